# A plain GEMM factory: knobs, out_idx, pipelining.
import torch
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1], pass_configs={"tl.disable_warp_specialized": True})
def matmul(M, N, K, block_M=128, block_N=128, block_K=32, dtype=T.float16, accum_dtype="float"):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((K, N), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=3):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


if __name__ == "__main__":
    kernel = matmul(1024, 1024, 1024)
    a = torch.randn(1024, 1024).cuda().half()
    print(kernel(a, a))

# given: M=1000 N=512 K=256 dtype=bfloat16

# >>> ir
# func main:
#     param A: bfloat16[1000, 256] global is_param
#     param B: bfloat16[256, 512] global is_param
#     param C: bfloat16[1000, 512] global is_param is_output out
#     hints("tl.disable_warp_specialized"=1)
#     launch main_kernel:
#         grid bx: int32 = 4, by: int32 = 8
#         threads tx: int32 = 128, ty: int32 = 1, tz: int32 = 1
#         buffer A_shared: bfloat16[128, 32] shared
#         buffer B_shared: bfloat16[32, 128] shared
#         buffer C_local: float32[128, 128] fragment
#         body:
#             fill #0(C_local[0:+128, 0:+128]) args(0.0)
#             for k in pipelined(0, 8) hints("num_stages"=3):
#                 copy #1(A[by * 128:+128, k * 32:+32], A_shared[0:+128, 0:+32])
#                 copy #2(B[k * 32:+32, bx * 128:+128], B_shared[0:+32, 0:+128])
#                 gemm #3(A_shared[0:+128, 0:+32], B_shared[0:+32, 0:+128], C_local[0:+128, 0:+128]) args(false, false, false, 1) hints("policy"=0)
#             copy #4(C_local[0:+128, 0:+128], C[by * 128:+128, bx * 128:+128])
# <<<
