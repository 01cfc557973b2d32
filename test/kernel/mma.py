# T.mma: products by the matrix instructions of single warps.
# verify: :block
# verify: :block M=40 N=24 K=48
# verify: :block M=16 N=8 K=16 threads=32
# verify: :block dtype="int8" accum="int32" --sm_70=gemm-mma
# verify: :block ta=True tb=True
# verify: :one_warp
# verify: :two_warps
import tilelang
import tilelang.language as T


@tilelang.jit
def block(M=64, N=64, K=32, threads=128, dtype="float16", accum="float32", ta=False, tb=False):
    a_shape = (K, M) if ta else (M, K)
    b_shape = (N, K) if tb else (K, N)

    @T.prim_func
    def main(A: T.Tensor(a_shape, dtype), B: T.Tensor(b_shape, dtype), C: T.Tensor((M, N), accum)):
        with T.Kernel(1, threads=threads) as bx:
            a = T.alloc_shared(a_shape, dtype)
            b = T.alloc_shared(b_shape, dtype)
            c = T.alloc_fragment((M, N), accum)
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.mma(a, b, c, transpose_A=ta, transpose_B=tb, policy=T.GemmWarpPolicy.FullRow)
            T.copy(c, C)

    return main


# The second warp multiplies, out of registers; the others do something else.
@tilelang.jit
def one_warp(M=16, N=16, K=32, threads=128):
    @T.prim_func
    def main(A: T.Tensor((M, K), "bfloat16"), B: T.Tensor((K, N), "bfloat16"),
             C: T.Tensor((M, N), "float32"), S: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            tx = T.get_thread_binding()
            b = T.alloc_shared((K, N), "bfloat16")
            T.copy(B, b)
            if tx // 32 == 1:
                a = T.alloc_fragment((M, K), "bfloat16")
                c = T.alloc_fragment((M, N), "float32")
                T.copy(A, a)
                T.mma(a, b, c, clear_accum=True)
                T.copy(c, C)
            if tx >= 64:
                for j in T.Parallel(N):
                    S[j] = T.cast(b[0, j], "float32") * 2.0

    return main


# Two warps, each with a half of k and an accumulator of its own.
@tilelang.jit
def two_warps(M=32, N=16, K=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            tx = T.get_thread_binding()
            a = T.alloc_shared((M, K), "float16")
            b = T.alloc_shared((K, N), "float16")
            s = T.alloc_shared((M, N), "float32")
            T.copy(A, a)
            T.copy(B, b)
            if tx < 32:
                c = T.alloc_fragment((M, N), "float32")
                T.mma(a[:, 0:K // 2], b[0:K // 2, :], c, clear_accum=True)
                T.copy(c, s)
            T.sync_threads()
            if tx >= 32:
                d = T.alloc_fragment((M, N), "float32")
                T.mma(a[:, K // 2:K], b[K // 2:K, :], d, clear_accum=True)
                for i, j in T.Parallel(M, N):
                    C[i, j] = d[i, j] + s[i, j]

    return main
