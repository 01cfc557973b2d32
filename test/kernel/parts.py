# Slices of shared tiles, filled and copied one after the other, with starts known at run time.
# verify: :parts k=0
# verify: :parts k=5
# verify: :parts k=10
# verify: :shift
# verify: :shift N=33 by=1
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
