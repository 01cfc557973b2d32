# run: --target="cuda -arch=sm_90a"
# What the second level cache is told of a bulk copy.
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((32, 64), "float32"), B: T.Tensor((32, 64), "float32")):
    with T.Kernel(1, threads=128):
        s = T.alloc_shared((32, 64), "float32")
        T.copy(A, s, eviction_policy="evict_first")
        T.copy(s, B, eviction_policy="evict_last")
# >>> source
# extern "C" __global__ void __launch_bounds__(128, 4) main_kernel(
#     const float *__restrict__ A,
#     float *__restrict__ B,
#     const __grid_constant__ TlTensorMap A_map,
#     const __grid_constant__ TlTensorMap B_map)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     float *const s = (float *)(tl_shared + 0);
#     uint64_t *const bar_1 = (uint64_t *)(tl_shared + 8192);
#     const int32_t tx = threadIdx.x;
#
#     if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
#         tl_prefetch_map(&A_map);
#         tl_prefetch_map(&B_map);
#         tl_mbar_init(&bar_1[0], 1);
#         tl_fence_mbar_init();
#     }
#     __syncthreads();
#     // T.copy(A, s, eviction_policy="evict_first")  cache_hint.py:11
#     if (tx == 0) {
#         tl_mbar_arrive_expect(&bar_1[0], 8192);
#         tl_tma_load_2d_hint(&s[0], &A_map, &bar_1[0], tl_evict_first(), 0, 0);
#     }
#     tl_mbar_wait(&bar_1[0], 0);
#     // T.copy(s, B, eviction_policy="evict_last")  cache_hint.py:12
#     if (tx == 0) {
#         tl_tma_store_2d_hint(&s[0], &B_map, tl_evict_last(), 0, 0);
#         tl_bulk_commit();
#         tl_bulk_wait<0>();
#     }
# }
#
# <<<
