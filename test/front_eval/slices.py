# Slices: regions of copies, slice stores, negative bounds, ellipsis.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 32), "float32"), B: T.Tensor((64, 32), "float16"), V: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=32) as bx:
        S = T.alloc_shared((16, 32), "float32")
        T.copy(A[bx * 16 : bx * 16 + 16, :], S)
        T.copy(S[4:8, ...], A[-4:, :])
        S[0, 0:4] = 1.0
        S[1, 4:8] = A[bx, 0:4]
        S[2:4, :] = 0
        V[0:8] += V[8:16]
        T.copy(A[bx : bx + 1, 8:16], V[8:16])

# >>> ir
# func main:
#     param A: float32[64, 32] global is_param
#     param B: float16[64, 32] global is_param
#     param V: float32[64] global is_param
#     launch main_kernel:
#         grid bx: int32 = 4
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         buffer S: float32[16, 32] shared
#         body:
#             copy #0(A[bx * 16:+16, 0:+32], S[0:+16, 0:+32])
#             copy #1(S[4:+4, 0:+32], A[60:+4, 0:+32])
#             for v in vectorized(0, 4):
#                 S[0, v] = 1.0
#             for v.1 in vectorized(0, 4):
#                 S[1, 4 + v.1] = A[bx, v.1]
#             for v0 in serial(0, 2):
#                 for v1 in vectorized(0, 32):
#                     S[2 + v0, v1] = 0.0
#             for v.2 in vectorized(0, 8):
#                 V[v.2] = V[v.2] + V[8 + v.2]
#             copy #2(A[bx:+1, 8:+8], V[8:+8])
# <<<
