# run: --target="cuda -arch=sm_90a"
# max(x, 0) by a function of its own, whatever it is clamped by above.
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=64) as bx:
        tx = T.get_thread_binding()
        B[tx] = T.max(0, T.min(64, A[tx]))
# >>> source
# extern "C" __global__ void __launch_bounds__(64, 8) main_kernel(
#     const int32_t *__restrict__ A,
#     int32_t *__restrict__ B)
# {
#     const int32_t tx = threadIdx.x;
#
#     B[tx] = tl_above_zero_i32(tl_min_i32(A[tx], 64));
# }
#
# <<<
