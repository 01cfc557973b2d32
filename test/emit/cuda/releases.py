# run: --target="cuda -arch=sm_90a"
# An arrival at another block's barrier says what was written before it.
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "int32")):
    with T.ClusterKernel(2, cluster_dims=(2, 1, 1), threads=32) as bx:
        told = T.alloc_cluster_barrier([64])
        T.mbarrier_arrive(told[0], 0)
        T.mbarrier_arrive(told[0], 1)
        T.mbarrier_wait_parity(told[0], 0)
        A[bx] = 1
# >>> source
# extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32, 16) main_kernel(
#     int32_t *__restrict__ A)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     uint64_t *const told = (uint64_t *)(tl_shared + 0);
#     const int32_t bx = blockIdx.x;
#
#     if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
#         tl_mbar_init(&told[0], 64);
#         tl_fence_mbar_init();
#     }
#     tl_cluster_arrive_relaxed();
#     tl_cluster_wait();
#     tl_mbar_arrive_at(&told[0], 0);
#     tl_mbar_arrive_at(&told[0], 1);
#     tl_mbar_wait(&told[0], 0);
#     A[bx] = 1;
# }
#
# <<<
