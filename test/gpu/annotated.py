# What is written beside a kernel, and tiles that are not powers of two: kernels for plans.py.
import tilelang
import tilelang.language as T


@tilelang.jit
def product(M=192, N=192, K=96, bm=96, bn=96, bk=48, threads=128, stages=2, dtype="float16", safe=0, blocks=0):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=threads) as (bx, by):
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            if safe:
                T.annotate_safe_value({A: safe})
            if blocks:
                T.annotate_min_blocks_per_sm(blocks)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def swizzled(M=64, N=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), B: T.Tensor((N, M), "float16")):
        with T.Kernel(1, threads=96) as bx:
            s = T.alloc_shared((M, N), "float16")
            T.annotate_layout({s: tilelang.layout.make_swizzled_layout(s)})
            T.copy(A, s)
            for i, j in T.Parallel(N, M):
                B[i, j] = s[j, i]

    return main
