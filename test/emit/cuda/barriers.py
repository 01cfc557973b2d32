# run: --target="cuda -arch=sm_90a"
import tilelang
import tilelang.language as T


@tilelang.jit
def barriers(N=4):
    @T.prim_func
    def main(X: T.Tensor((N, 128), "float32"), Y: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=256) as bx:
            s = T.alloc_shared((2, 128), "float32")
            full = T.alloc_barrier([128, 128])
            free = T.alloc_barrier([128, 128])
            acc = T.alloc_local((1,), "float32")
            tx = T.get_thread_binding()
            with T.ws(0):
                for k in T.serial(N):
                    T.mbarrier_wait_parity(free[k % 2], ((k // 2) & 1) ^ 1)
                    s[k % 2, tx] = X[k, tx]
                    T.mbarrier_arrive(full[k % 2])
            with T.ws(1):
                acc[0] = 0
                for k in T.serial(N):
                    T.mbarrier_wait_parity(full[k % 2], (k // 2) & 1)
                    acc[0] = T.max(acc[0], s[k % 2, tx - 128])
                    T.mbarrier_arrive(free[k % 2])
                Y[tx - 128] = T.warp_reduce_sum(acc[0]) + T.shfl_xor(acc[0], 16)

    return main
# >>> source
# extern "C" __global__ void __launch_bounds__(256, 2) main_kernel(
#     const float *__restrict__ X,
#     float *__restrict__ Y)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     float *const s = (float *)(tl_shared + 0);
#     uint64_t *const full = (uint64_t *)(tl_shared + 1024);
#     uint64_t *const free = (uint64_t *)(tl_shared + 1088);
#     float acc[1];
#     const int32_t tx = threadIdx.x;
#     const int32_t tl_warp = tl_warp_same((int32_t)threadIdx.x / 32);
#
#     if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
#         tl_mbar_init(&full[0], 128);
#         tl_mbar_init(&full[1], 128);
#         tl_mbar_init(&free[0], 128);
#         tl_mbar_init(&free[1], 128);
#         tl_fence_mbar_init();
#     }
#     __syncthreads();
#     if (tl_warp / 4 == 0) {
#         #pragma unroll 1
#         for (int32_t k = 0; k < 4; k++) {
#             tl_mbar_wait(&free[k % 2], (k / 2) ^ 1);
#             s[tx + k % 2 * 128] = X[tx + k * 128];
#             tl_mbar_arrive(&full[k % 2]);
#         }
#     }
#     if (tl_warp / 4 == 1) {
#         acc[0] = 0.0f;
#         #pragma unroll 1
#         for (int32_t k_1 = 0; k_1 < 4; k_1++) {
#             tl_mbar_wait(&full[k_1 % 2], k_1 / 2);
#             acc[0] = tl_max_f32(acc[0], s[tx + k_1 % 2 * 128 - 128]);
#             tl_mbar_arrive(&free[k_1 % 2]);
#         }
#         const float warp_reduce_sum = tl_warp_sum((float)(acc[0]));
#         const float shfl_xor = __shfl_xor_sync(0xffffffffu, acc[0], 16);
#         Y[tx - 128] = warp_reduce_sum + shfl_xor;
#     }
# }
#
# <<<
