# run: --target="cuda -arch=sm_90a"
# Barriers are set up by one thread, whatever the shape of the block, and seen by other blocks of the cluster.
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16")):
    with T.Kernel(1, threads=(32, 2, 2)):
        s = T.alloc_shared((64, 64), "float16")
        T.copy(A, s)
        T.copy(s, B)
# >>> source
# extern "C" __global__ void __launch_bounds__(128, 4) main_kernel(
#     const uint16_t *__restrict__ A,
#     uint16_t *__restrict__ B,
#     const __grid_constant__ TlTensorMap A_map,
#     const __grid_constant__ TlTensorMap B_map)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     uint16_t *const s = (uint16_t *)(tl_shared + 0);
#     uint64_t *const bar_1 = (uint64_t *)(tl_shared + 8192);
#     const int32_t tx = threadIdx.x;
#     const int32_t ty = threadIdx.y;
#     const int32_t tz = threadIdx.z;
#
#     if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
#         tl_prefetch_map(&A_map);
#         tl_prefetch_map(&B_map);
#         tl_mbar_init(&bar_1[0], 1);
#         tl_fence_mbar_init();
#     }
#     __syncthreads();
#     // T.copy(A, s)  barrier_init.py:11
#     if (tx + ty * 32 + tz * 64 == 0) {
#         tl_mbar_arrive_expect(&bar_1[0], 8192);
#         tl_tma_load_2d(&s[0], &A_map, &bar_1[0], 0, 0);
#     }
#     tl_mbar_wait(&bar_1[0], 0);
#     // T.copy(s, B)  barrier_init.py:12
#     if (tx + ty * 32 + tz * 64 == 0) {
#         tl_tma_store_2d(&s[0], &B_map, 0, 0);
#         tl_bulk_commit();
#         tl_bulk_wait<0>();
#     }
# }
#
# <<<
