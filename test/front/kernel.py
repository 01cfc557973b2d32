# A whole kernel file, as users write them.
import tilelang
import tilelang.language as T
from math import ceil, prod as product


@tilelang.jit(out_idx=[-1])
def matmul(M, N, K, block_M, block_N, block_K, dtype="float16", accum_dtype="float"):
    @T.prim_func
    def gemm(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((K, N), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_s = T.alloc_shared((block_M, block_K), dtype)
            acc = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=3):
                T.copy(A[by * block_M, k * block_K], A_s)
                for i, j in T.Parallel(block_K, block_N):
                    acc[i, j] = T.max(acc[i, j], 0) if i < j <= 3 else -1.5
            T.copy(acc, C[by * block_M : (by + 1) * block_M, ...])

    return gemm


if __name__ == "__main__":
    kernel = matmul(1024, 1024, 1024, 128, 128, 32)
    print(f"source: {kernel.get_kernel_source()!r:>{80}} in {1e3 * 2:.3f} ms")
# >>> ast
# (import tilelang)
# (import (as tilelang.language T))
# (from math ceil (as prod product))
# (@ (call (. tilelang jit) (= out_idx (list (- 1)))))
# (def matmul (M N K block_M block_N block_K dtype="float16" accum_dtype="float"))
#   (@ (. T prim_func))
#   (def gemm (A:(call (. T Tensor) (tuple M K) dtype) B:(call (. T Tensor) (tuple K N) dtype) C:(call (. T Tensor) (tuple M N) dtype)))
#     (with ((call (. T Kernel) (call (. T ceildiv) N block_N) (call (. T ceildiv) M block_M) (= threads 128)) (tuple bx by)))
#       (= A_s (call (. T alloc_shared) (tuple block_M block_K) dtype))
#       (= acc (call (. T alloc_fragment) (tuple block_M block_N) accum_dtype))
#       (expr (call (. T clear) acc))
#       (for k (call (. T Pipelined) (call (. T ceildiv) K block_K) (= num_stages 3)))
#         (expr (call (. T copy) (index A (tuple (* by block_M) (* k block_K))) A_s))
#         (for (tuple i j) (call (. T Parallel) block_K block_N))
#           (= (index acc (tuple i j)) (if-else (call (. T max) (index acc (tuple i j)) 0) (compare i < j <= 3) (- 1.5)))
#       (expr (call (. T copy) acc (index C (tuple (slice (* by block_M) (* (+ by 1) block_M) _) ...))))
#   (return gemm)
# (if (compare __name__ == "__main__"))
#   (= kernel (call matmul 1024 1024 1024 128 128 32))
#   (expr (call print (fstring "source: " (format (call (. kernel get_kernel_source)) "!r:" (fstring ">" (format 80))) " in " (format (* 1000.0 2) ":.3f") " ms")))
# <<<
