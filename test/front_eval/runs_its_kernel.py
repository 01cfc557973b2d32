# A script function without a return value: the kernel it makes is meant.
import torch
import tilelang
import tilelang.language as T


def run(n=64):
    @T.prim_func
    def scale(A: T.Tensor((n,), "float32"), s: T.float32):
        with T.Kernel(2, threads=32) as bx:
            A[bx] = A[bx] * s

    kernel = tilelang.compile(scale, out_idx=[0])
    a = torch.randn(n)
    kernel(a, 2.0)
    print(kernel.get_kernel_source())


# >>> ir
# func scale:
#     param A: float32[64] global is_param is_output out
#     param s: float32
#     launch scale_kernel:
#         grid bx: int32 = 2
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         body:
#             A[bx] = A[bx] * s
# <<<
