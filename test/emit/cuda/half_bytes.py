# run: --target="cuda -arch=sm_80"
# Half a byte of memory that threads share is changed in one atomic step, as the other half may be another thread's; of
# registers it is stored.
import tilelang.language as T


@T.prim_func
def main(x: T.Tensor((33,), "int32"), y: T.Tensor((33,), "uint4"), z: T.Tensor((33,), "uint4")):
    with T.Kernel(1, threads=32):
        r = T.alloc_local((2,), "uint4")
        s = T.alloc_shared((33,), "uint4")
        for i in T.Parallel(33):
            s[i] = T.cast(x[i], "uint4")
        for i in T.Parallel(33):
            y[i] = s[32 - i]
        for i in T.serial(2):
            r[i] = T.cast(x[i], "uint4")
        for i in T.serial(2):
            z[i] = r[1 - i]
# >>> source
# extern "C" __global__ void __launch_bounds__(32, 16) main_kernel(
#     const int32_t *__restrict__ x,
#     uint8_t *__restrict__ y,
#     uint8_t *__restrict__ z)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     __align__(16) uint8_t r[1];
#     uint8_t *const s = (uint8_t *)(tl_shared + 0);
#     const int32_t tx = threadIdx.x;
#
#     // for i in T.Parallel(33)  half_bytes.py:12
#     #pragma unroll
#     for (int32_t s_1 = 0; s_1 < 2; s_1++) {
#         if (tx + s_1 * 32 < 33) {
#             tl_share_nibble(s, tx + s_1 * 32, ((uint8_t)((uint8_t)(x[tx + s_1 * 32]) & 15)));
#         }
#     }
#     // for i in T.Parallel(33)  half_bytes.py:14
#     __syncthreads();
#     #pragma unroll
#     for (int32_t s_2 = 0; s_2 < 2; s_2++) {
#         if (tx + s_2 * 32 < 33) {
#             tl_share_nibble(y, tx + s_2 * 32, tl_load_uint4(s, 32 - tx - s_2 * 32));
#         }
#     }
#     #pragma unroll
#     for (int32_t i = 0; i < 2; i++) {
#         tl_store_nibble(r, i, ((uint8_t)((uint8_t)(x[i]) & 15)));
#     }
#     #pragma unroll
#     for (int32_t i_1 = 0; i_1 < 2; i_1++) {
#         tl_share_nibble(z, i_1, tl_load_uint4(r, 1 - i_1));
#     }
# }
#
# <<<
