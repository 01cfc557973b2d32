# Blocks of one thread, and of numbers that are no multiple of a warp.
# verify: :squares threads=1
# verify: :squares threads=33
# verify: :squares threads=100
# verify: :product
# verify: :one_of_many
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-2, -1])
def squares(M=17, N=23, threads=48):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), S: T.Tensor((M,), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=threads):
            x = T.alloc_fragment((M, N), "float32")
            t = T.alloc_shared((M, N), "float32")
            s = T.alloc_fragment((M,), "float32")
            T.copy(X, x)
            for i, j in T.Parallel(M, N):
                x[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(x, s, dim=1)
            T.copy(s, S)
            T.copy(x, t)
            T.cumsum(t, dim=0)
            for i, j in T.Parallel(M, N):
                Y[i, j] = t[M - 1 - i, j] + s[i]

    return main


@tilelang.jit(out_idx=[-1])
def product(M=16, N=8, K=16):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=1):
            a = T.alloc_shared((M, K), "float16")
            b = T.alloc_shared((N, K), "float16")
            c = T.alloc_fragment((M, N), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            T.copy(c, C)

    return main


@tilelang.jit(out_idx=[-1])
def one_of_many(M=4, N=33):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(M, threads=64) as b:
            f = T.alloc_fragment((N,), "float32")
            if T.get_thread_binding() == 0:
                T.copy(X[b, 0], f)
                T.copy(f, Y[b, 0])

    return main
