# run: --target="cuda -arch=sm_90a"
# Panels of clusters; only the order depends on how wide they are.
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4, 8), "int32")):
    with T.ClusterKernel(8, 4, cluster_dims=(1, 2, 1), threads=32) as (bx, by):
        T.use_swizzle(4)
        for i in T.Parallel(1):
            A[by, bx] = 1
# >>> source
# extern "C" __global__ void __cluster_dims__(1, 2, 1) __launch_bounds__(32, 16) main_kernel(
#     int32_t *__restrict__ A)
# {
#     const TlTile tl_tile = tl_raster_clusters_rows(2, 1, 2);
#     const int32_t bx = tl_tile.x;
#     const int32_t by = tl_tile.y;
#     const int32_t tx = threadIdx.x;
#
#     // for i in T.Parallel(1)  raster_clusters.py:11
#     if (tx < 1) {
#         A[bx + by * 8] = 1;
#     }
# }
#
# <<<
