# Results that are cleared before a loop of products: the first turn clears them.
# verify: :two
# verify: :two K=32
# verify: :again
import tilelang
import tilelang.language as T


# One loop with two products, each cleared before.
@tilelang.jit(out_idx=[-2, -1])
def two(M=128, N=64, K=160):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), D: T.Tensor((K, N), "float16"),
             C: T.Tensor((M, N), "float32"), E: T.Tensor((M, N), "float32")):
        with T.Kernel(1, M // 64, threads=128) as (bx, by):
            A_s = T.alloc_shared((64, 32), "float16")
            B_s = T.alloc_shared((32, N), "float16")
            D_s = T.alloc_shared((32, N), "float16")
            C_l = T.alloc_fragment((64, N), "float32")
            E_l = T.alloc_fragment((64, N), "float32")
            T.clear(C_l)
            T.clear(E_l)
            for k in T.Pipelined(K // 32, num_stages=2):
                T.copy(A[by * 64, k * 32], A_s)
                T.copy(B[k * 32, 0], B_s)
                T.copy(D[k * 32, 0], D_s)
                T.gemm(A_s, B_s, C_l)
                T.gemm(A_s, D_s, E_l)
            T.copy(C_l, C[by * 64, 0])
            T.copy(E_l, E[by * 64, 0])

    return main


# Cleared once for two loops: the second adds.
@tilelang.jit(out_idx=[-1])
def again(M=64, N=64, K=96):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            A_s = T.alloc_shared((64, 32), "float16")
            B_s = T.alloc_shared((32, N), "float16")
            C_l = T.alloc_fragment((64, N), "float32")
            T.clear(C_l)
            for r in T.serial(2):
                for k in T.Pipelined(K // 32, num_stages=2):
                    T.copy(A[0, k * 32], A_s)
                    T.copy(B[k * 32, 0], B_s)
                    T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C)

    return main
