# Files beside this one are run when they are imported; what is not found stays opaque.
import tilelang.language as T
from parts.helpers import scaled, SCALE as FACTOR
import parts.more
from parts.nowhere import missing


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(2, threads=32) as bx:
        S = T.alloc_shared((16,), "float32")
        scaled(S, 16)
        A[bx] = FACTOR + parts.more.twice(bx)

# >>> ir
# func main:
#     param A: float32[64] global is_param
#     launch main_kernel:
#         grid bx: int32 = 2
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         buffer S: float32[16] shared
#         body:
#             for i in parallel(0, 16):
#                 S[i] = S[i] * 3.0 * 2.0
#             A[bx] = cast(float32, 3 + bx * 3)
# <<<
