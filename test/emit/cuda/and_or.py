# run: --target="cuda -arch=sm_90a"
# Bits chosen by one constant and set by another take one instruction, whatever stands around them; two values do not.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((128,), "uint32"), B: T.Tensor((128,), "int32"), C: T.Tensor((128,), "uint32"), D: T.Tensor((128,), "int32")):
    with T.Kernel(1, threads=128):
        tx = T.get_thread_binding()
        C[tx] = (A[tx] >> 4) & 0x000F000F | 0x64006400
        D[tx] = (B[tx] & 15 | 48) + (B[tx] & 7 | B[tx])
# >>> source
# extern "C" __global__ void __launch_bounds__(128, 4) main_kernel(
#     const uint32_t *__restrict__ A,
#     const int32_t *__restrict__ B,
#     uint32_t *__restrict__ C,
#     int32_t *__restrict__ D)
# {
#     const int32_t tx = threadIdx.x;
#
#     C[tx] = tl_and_or_u32(A[tx] >> 4u, 0x000f000fu, 0x64006400u);
#     D[tx] = (int32_t)((uint32_t)((B[tx] & 7) | B[tx]) + (uint32_t)(int32_t)tl_and_or_u32((uint32_t)B[tx], 0x0000000fu, 0x00000030u));
# }
#
# <<<
