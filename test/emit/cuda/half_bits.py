# run: --target="cuda -arch=sm_90a"
"""Halves that are only moved, chosen, named or put together from an integer stay as they lie in memory; sums and products of them, with constants too,
are instructions on halves."""
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float16"), B: T.Tensor((64,), "uint16"), C: T.Tensor((64,), "float16"), D: T.Tensor((64,), "float16"),
         E: T.Tensor((64,), "float16")):
    with T.Kernel(1, threads=64):
        tx = T.get_thread_binding()
        x = A[tx]
        y = x * T.float16(0.25)
        C[tx] = T.reinterpret(B[tx], "float16")
        D[tx] = T.if_then_else(B[tx] > 7, x * x + y, T.float16(0.5))
        E[tx] = T.if_then_else(T.cast(x, "float32") > 1.5, y, x)
# >>> source
# extern "C" __global__ void __launch_bounds__(64, 8) main_kernel(
#     const uint16_t *__restrict__ A,
#     const uint16_t *__restrict__ B,
#     uint16_t *__restrict__ C,
#     uint16_t *__restrict__ D,
#     uint16_t *__restrict__ E)
# {
#     const int32_t tx = threadIdx.x;
#
#     const uint16_t x_bits = A[tx];
#     const float x = tl_f16_to_f32(x_bits);
#     const uint16_t y_bits = tl_mul_f16(x_bits, (uint16_t)13312);
#     const float y = tl_f16_to_f32(y_bits);
#     C[tx] = (uint16_t)B[tx];
#     D[tx] = (B[tx] > 7 ? tl_add_f16(tl_mul_f16(x_bits, x_bits), y_bits) : (uint16_t)14336);
#     E[tx] = (x > 1.5f ? y_bits : x_bits);
# }
#
# <<<
