# Slices of shared tiles, filled and copied one after the other, with starts known at run time.
# verify: :parts k=0
# verify: :parts k=5
# verify: :parts k=10
# verify: :shift
# verify: :shift N=33 by=1
# verify: :out_of_shared
# verify: :out_of_shared h=8 w=10 at=0
# verify: :out_of_shared n=64 m=8 h=4 w=8 at=0
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def parts(M=20, N=32):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), k: T.int32, Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((M, N), "float32")
            u = T.alloc_shared((4, 8), "float32")
            T.fill(s, 1.0)
            T.copy(X[0:8, 0:N], s[4:12, 0:N])
            T.fill(s[0:4, 8:24], -2.0)
            T.copy(s[k : k + 4, 8:16], u)
            T.copy(u, s[16:20, 24:32])
            T.clear(s[12:16, :])
            T.copy(s, Y)

    return main


# Within one tile, through a fragment.
@tilelang.jit(out_idx=[-1])
def shift(N=100, by=7):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((N,), "int32")
            f = T.alloc_fragment((N - by,), "int32")
            T.copy(X, s)
            for r in T.serial(3):
                T.copy(s[0 : N - by], f)
                T.copy(f, s[by:N])
            T.copy(s, Y)

    return main


@tilelang.jit
def out_of_shared(n=32, m=10, h=3, w=1, at=2):
    """A whole shared tile, filled once and read once, to a part of a fragment, and to one of another rank."""

    @T.prim_func
    def main(A: T.Tensor((n, m), "int64"), B: T.Tensor((h, w), "int32"), R: T.Tensor((n, m), "int64"),
             Q: T.Tensor((h, 1, w), "int32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((h, w), "int32")
            u = T.alloc_shared((h, w), "int32")
            t = T.alloc_fragment((n, m), "int64")
            v = T.alloc_fragment((h, 1, w), "int32")
            T.copy(B, s)
            T.copy(B, u)
            T.copy(A, t)
            T.copy(s, t[n // 2 : n // 2 + h, at : at + w])
            T.copy(u, v[:, 0, :])
            T.copy(t, R)
            T.copy(v, Q)

    return main
