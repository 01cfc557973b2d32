# Copies from one part of a tile to another: all of it is read before any is written; parts of fragments.
# verify: :shift
# verify: :shift d=-3
# verify: :shift place="fragment"
# verify: :shift place="fragment" d=-1
# verify: :shift place="global" d=2
# verify: :rows k=2
# verify: :rows k=2 place="fragment"
# verify: :take
# verify: :take lo=3 n=10
# verify: :put
# verify: :put lo=1 n=63
# verify: :row_of
# verify: :columns
# verify: :columns lo=3 n=20
# verify: :product
import tilelang
import tilelang.language as T


@tilelang.jit
def shift(N=64, d=1, place="shared"):
    lo, hi = max(d, 0), N + min(d, 0)

    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), O: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=32):
            if place == "global":
                T.copy(A[lo - d : hi - d], A[lo:hi])
            else:
                s = T.alloc_shared((N,), "int32") if place == "shared" else T.alloc_fragment((N,), "int32")
                T.copy(A, s)
                T.copy(s[lo - d : hi - d], s[lo:hi])
                T.copy(s, O)

    return main


# The offset is read: rows k to k + 7 become rows 0 to 7.
@tilelang.jit
def rows(k=0, place="shared"):
    @T.prim_func
    def main(A: T.Tensor((16, 32), "float16"), k: T.int32, O: T.Tensor((16, 32), "float16")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((16, 32), "float16") if place == "shared" else T.alloc_fragment((16, 32), "float16")
            T.copy(A, s)
            T.copy(s[k : k + 8, :], s[0:8, :])
            T.copy(s, O)

    return main


@tilelang.jit
def take(N=64, lo=32, n=32):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), O: T.Tensor((n,), "int32")):
        with T.Kernel(1, threads=32):
            f = T.alloc_fragment((N,), "int32")
            g = T.alloc_fragment((n,), "int32")
            T.copy(A, f)
            T.copy(f[lo : lo + n], g)
            T.copy(g, O)

    return main


@tilelang.jit
def put(N=64, lo=32, n=32):
    @T.prim_func
    def main(A: T.Tensor((n,), "int32"), O: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=32):
            f = T.alloc_fragment((N,), "int32")
            g = T.alloc_fragment((n,), "int32")
            T.copy(A, g)
            T.fill(f, 5)
            T.copy(g, f[lo : lo + n])
            T.copy(f, O)

    return main


@tilelang.jit
def row_of(M=8, N=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "int32"), O: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=64):
            f = T.alloc_fragment((M, N), "int32")
            g = T.alloc_fragment((N,), "int32")
            T.copy(A, f)
            T.clear(g)
            for k in T.serial(M):
                if k % 3 == 2:
                    T.copy(f[k, :], g)
            T.copy(g, O)

    return main


@tilelang.jit
def columns(M=8, N=64, lo=16, n=16):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), O: T.Tensor((M, n), "float32")):
        with T.Kernel(1, threads=64):
            f = T.alloc_fragment((M, N), "float32")
            g = T.alloc_fragment((M, n), "float32")
            r = T.alloc_fragment((M,), "float32")
            T.copy(A, f)
            T.reduce_sum(f, r, dim=1)
            T.copy(f[:, lo : lo + n], g)
            for i, j in T.Parallel(M, n):
                g[i, j] += r[i]
            T.copy(g, O)

    return main


@tilelang.jit
def product(M=64, N=64, K=32, n=16):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), O: T.Tensor((M, n), "float32")):
        with T.Kernel(1, threads=128):
            sa = T.alloc_shared((M, K), "float16")
            sb = T.alloc_shared((K, N), "float16")
            f = T.alloc_fragment((M, N), "float32")
            g = T.alloc_fragment((M, n), "float32")
            T.copy(A, sa)
            T.copy(B, sb)
            T.gemm(sa, sb, f, clear_accum=True)
            T.copy(f[:, N - n : N], g)
            T.copy(g, O)

    return main
