# run: --target="cuda -arch=sm_80"
# Panels of rows of blocks, which share rows of a product's left side, unless columns are asked for.
import tilelang.language as T


@T.prim_func
def main(x: T.Tensor((64, 64), "float32"), y: T.Tensor((64, 64), "float32")):
    with T.Kernel(4, 4, threads=256) as (bx, by):
        T.use_swizzle(2)
        for i, j in T.Parallel(16, 16):
            y[by * 16 + i, bx * 16 + j] = x[by * 16 + i, bx * 16 + j] + 1
# >>> source
# extern "C" __global__ void __launch_bounds__(256, 2) main_kernel(
#     const float *__restrict__ x,
#     float *__restrict__ y)
# {
#     const TlTile tl_tile = tl_raster_rows(2);
#     const int32_t bx = tl_tile.x;
#     const int32_t by = tl_tile.y;
#     const int32_t tx = threadIdx.x;
#
#     y[bx * 16 + by * 1024 + tx / 16 * 64 + tx % 16] = x[bx * 16 + by * 1024 + tx / 16 * 64 + tx % 16] + 1.0f;
# }
#
# <<<
