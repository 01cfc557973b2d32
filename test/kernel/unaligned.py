# Tensors that may start at any element: products, copies, sums and atomics without wide accesses.
# verify: :product
# verify: :product dtype=bfloat16 M=96
# verify: :rows
# verify: :rows dtype=float16 N=250
# verify: :gathered
import tilelang
import tilelang.language as T

ANYWHERE = {"tl.unaligned_tensors": True}


@tilelang.jit
def product(M=128, N=64, K=96, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        T.annotate_pass_configs(ANYWHERE)
        with T.Kernel(T.ceildiv(M, 64), threads=128) as by:
            A_s = T.alloc_shared((64, 32), dtype)
            B_s = T.alloc_shared((32, N), dtype)
            C_l = T.alloc_fragment((64, N), "float32")
            T.clear(C_l)
            for k in T.Pipelined(K // 32, num_stages=3):
                T.copy(A[by * 64, k * 32], A_s)
                T.copy(B[k * 32, 0], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * 64, 0])

    return main


@tilelang.jit
def rows(M=9, N=256, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype), S: T.Tensor((M,), "float32")):
        T.annotate_pass_configs(ANYWHERE)
        with T.Kernel(M, threads=64) as by:
            x = T.alloc_fragment((N,), "float32")
            s = T.alloc_fragment((1,), "float32")
            T.copy(A[by, :], x)
            T.reduce_sum(x, s, dim=0)
            for i in T.Parallel(N):
                B[by, i] = x[i] * 2
            S[by] = s[0]

    return main


@tilelang.jit
def gathered(N=512):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), S: T.Tensor((64,), "float32")):
        T.annotate_pass_configs(ANYWHERE)
        with T.Kernel(N // 128, threads=128) as bx:
            for i, j in T.Parallel(16, 8):
                T.atomic_add(S[i * 4 + j % 4], A[bx * 128 + i * 8 + j])

    return main
