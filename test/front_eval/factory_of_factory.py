# A factory may give another one; a function that only uses its kernel stands for it.
import tilelang
import tilelang.language as T


def make(scale=2):
    def inner(n=32):
        @T.prim_func
        def main(A: T.Tensor((n,), "float32")):
            with T.Kernel(threads=32):
                A[0] = scale

        return main

    return inner


# func: make
# given: scale=5

# >>> ir
# func main:
#     param A: float32[32] global is_param
#     launch main_kernel:
#         grid bx: int32 = 1
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         body:
#             A[0] = 5.0
# <<<
