# Module values, helper functions, closures, `from` imports, the last kernel of a file by default.
from tilelang import jit, language as TL
import tilelang.language as T
from math import ceil as up
from mylib import decorate, CONFIG

BLOCK = 16
SIZES = {"a": BLOCK * 2, "b": up(3.5)}


def blocks(n, by=BLOCK):
    return TL.ceildiv(n, by)


def make(dtype):
    def zero(S):
        TL.fill(S, 0)

    return zero


@T.prim_func
def unused(A: T.Tensor((1,), "float32")):
    with T.Kernel(1) as bx:
        A[undefined_name] = 0.0


@decorate
@jit
def factory(n=64):
    zero = make("float32")

    @T.prim_func
    def body(A: T.Tensor((n, SIZES["a"]), TL.float32)):
        with T.Kernel(blocks(n), threads=32) as bx:
            S = T.alloc_shared((BLOCK, SIZES["a"]), A.dtype)
            zero(S)
            T.copy(S, A[bx * BLOCK, 0])

    return body

# >>> ir
# func body:
#     param A: float32[64, 32] global is_param
#     launch body_kernel:
#         grid bx: int32 = 4
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         buffer S: float32[16, 32] shared
#         body:
#             fill #0(S[0:+16, 0:+32]) args(0.0)
#             copy #1(S[0:+16, 0:+32], A[bx * 16:+16, 0:+32])
# <<<
