# Two outputs, scalars at run time, a knob in the middle.
import tilelang
import tilelang.language as T


@tilelang.jit
def split(A: T.Tensor((64,), "float32"), n: T.int32, block: int = 16, factor=2.0):
    low = T.empty((64,), "float32")
    high = T.empty([64], dtype="float16")
    with T.Kernel(64 // block, threads=block) as bx:
        for i in T.Parallel(block):
            low[bx * block + i] = A[bx * block + i] * factor
            high[bx * block + i] = A[bx * block + i] + n
    return low, high

# given: block=32

# >>> ir
# func split:
#     param A: float32[64] global is_param
#     param n: int32
#     param low: float32[64] global is_param is_output out
#     param high: float16[64] global is_param is_output out
#     launch split_kernel:
#         grid bx: int32 = 2
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         body:
#             for i in parallel(0, 32):
#                 low[bx * 32 + i] = A[bx * 32 + i] * 2.0
#                 high[bx * 32 + i] = cast(float16, A[bx * 32 + i] + cast(float32, n))
# <<<
