# Nested tuples, star arguments, default arguments, conditional definitions, try, global.
import tilelang
import tilelang.language as T

COUNT = 0

try:
    import torch

    HAS_TORCH = True
except ImportError:
    HAS_TORCH = False


def bump():
    global COUNT
    COUNT += 1
    return COUNT


def shape_of(*dims, pad=0, **rest):
    return tuple(d + pad for d in dims) + tuple(rest.values())


@tilelang.jit
def factory(causal=True, dims=(8, 8)):
    bump()
    bump()
    shape = shape_of(*dims, pad=COUNT, extra=4)

    def offset(i):
        nonlocal shape
        return i + shape[0]

    if causal:

        @T.macro
        def mask(S, i, j):
            S[i, j] = T.if_then_else(i >= j, S[i, j], -T.infinity("float32"))
    else:

        @T.macro
        def mask(S, i, j):
            S[i, j] = 0.0

    @T.prim_func
    def main(A: T.Tensor(shape, "float32"), B: T.Tensor(dims, "float32")):
        with T.Kernel(1, threads=32) as _:
            S = T.alloc_fragment(dims, "float32")
            for i, j in T.Parallel(*dims):
                mask(S, i, j)
            A[offset(0), shape[1] - 1, 0] = S[0, 0]

    return main

# >>> ir
# func main:
#     param A: float32[10, 10, 4] global is_param
#     param B: float32[8, 8] global is_param
#     launch main_kernel:
#         grid bx: int32 = 1
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         buffer S: float32[8, 8] fragment
#         body:
#             for i in parallel(0, 8):
#                 for j in parallel(0, 8):
#                     S[i, j] = S[i, j] if i >= j else float32(-inf)
#             A[10, 9, 0] = S[0, 0]
# <<<
