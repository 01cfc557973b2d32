# `import *` brings the names of modules that are known here: decorators of tilelang, math.
import tilelang
import tilelang.language as T
from tilelang.autotuner import *
from math import *


@autotune(configs=[dict(n=32)], warmup=1, rep=1)
@tilelang.jit
def main(n=16):
    @T.prim_func
    def f(A: T.Tensor((64,), "float32")):
        with T.Kernel(2, threads=32) as bx:
            A[bx] = sqrt(float(n)) * floor(pi)

    return f

# >>> ir
# func f:
#     param A: float32[64] global is_param
#     launch f_kernel:
#         grid bx: int32 = 2
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         body:
#             A[bx] = 12.0
# <<<
