# run: --target="cuda -arch=sm_90a"
# What threads read is fenced before the barrier behind which a bulk copy goes over it.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4, 128, 64), "float32"), B: T.Tensor((4, 128, 64), "float32")):
    with T.Kernel(1, threads=128):
        s = T.alloc_shared((128, 64), "float32")
        for k in T.serial(4):
            T.copy(A[k, 0, 0], s)
            for i, j in T.Parallel(128, 64):
                B[k, i, j] = s[i, 63 - j]
# >>> source
# extern "C" __global__ void __launch_bounds__(128, 4) main_kernel(
#     const float *__restrict__ A,
#     float *__restrict__ B,
#     const __grid_constant__ TlTensorMap A_map)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     float *const s = (float *)(tl_shared + 0);
#     uint64_t *const bar_1 = (uint64_t *)(tl_shared + 32768);
#     int32_t bar_phase_1 = 0;
#     const int32_t tx = threadIdx.x;
#
#     if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
#         tl_prefetch_map(&A_map);
#         tl_mbar_init(&bar_1[0], 1);
#         tl_fence_mbar_init();
#     }
#     __syncthreads();
#     // T.copy(A[k, 0, 0], s)  fence_reads.py:11
#     bar_phase_1 = 0;
#     #pragma unroll 1
#     for (int32_t k = 0; k < 4; k++) {
#         // T.copy(A[k, 0, 0], s)  fence_reads.py:11
#         tl_fence_proxy();
#         __syncthreads();
#         if (tx == 0) {
#             tl_mbar_arrive_expect(&bar_1[0], 32768);
#             tl_tma_load_3d(&s[0], &A_map, &bar_1[0], 0, 0, k);
#         }
#         tl_mbar_wait(&bar_1[0], bar_phase_1);
#         bar_phase_1 = bar_phase_1 ^ 1;
#         // for i, j in T.Parallel(128, 64)  fence_reads.py:12
#         #pragma unroll 8
#         for (int32_t s_1 = 0; s_1 < 64; s_1++) {
#             B[tx + k * 8192 + s_1 * 128] = s[tx / 64 * 64 + s_1 * 128 - tx % 64 + 63];
#         }
#     }
# }
#
# <<<
