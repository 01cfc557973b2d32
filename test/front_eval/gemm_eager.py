# The eager style: T.const shapes, tensors declared in the body, T.empty output.
import tilelang
import tilelang.language as T


@tilelang.jit
def matmul(A, B, block_M: int = 64, block_N: int = 64, block_K=32):
    M, N, K = T.const("M, N, K")
    A: T.Tensor[[M, K], T.float16]
    B: T.Tensor[[K, N], T.float16]
    C = T.empty((M, N), T.float16)
    with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M)) as (bx, by):
        A_shared = T.alloc_shared((block_M, block_K), T.float16)
        B_shared = T.alloc_shared((block_K, block_N), T.float16)
        C_local = T.alloc_fragment((block_M, block_N), T.float32)
        T.clear(C_local)
        for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
            T.copy(A[by * block_M : (by + 1) * block_M, k * block_K : (k + 1) * block_K], A_shared)
            T.copy(B[k * block_K, bx * block_N], B_shared)
            T.gemm(A_shared, B_shared, C_local)
        T.copy(C_local, C[by * block_M, bx * block_N])
    return C

# given: M=256 N=256 K=64

# >>> ir
# func matmul:
#     param A: float16[256, 64] global is_param
#     param B: float16[64, 256] global is_param
#     param C: float16[256, 256] global is_param is_output out
#     launch matmul_kernel:
#         grid bx: int32 = 4, by: int32 = 4
#         threads tx: int32 = 128, ty: int32 = 1, tz: int32 = 1
#         buffer A_shared: float16[64, 32] shared
#         buffer B_shared: float16[32, 64] shared
#         buffer C_local: float32[64, 64] fragment
#         body:
#             fill #0(C_local[0:+64, 0:+64]) args(0.0)
#             for k in pipelined(0, 2) hints("num_stages"=2):
#                 copy #1(A[by * 64:+64, k * 32:+32], A_shared[0:+64, 0:+32])
#                 copy #2(B[k * 32:+32, bx * 64:+64], B_shared[0:+32, 0:+64])
#                 gemm #3(A_shared[0:+64, 0:+32], B_shared[0:+32, 0:+64], C_local[0:+64, 0:+64]) args(false, false, false, 1) hints("policy"=0)
#             copy #4(C_local[0:+64, 0:+64], C[by * 64:+64, bx * 64:+64])
# <<<
