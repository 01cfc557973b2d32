# run: --target="cuda -arch=sm_80"
"""A name for what is loaded does not keep a loop from touching many elements at a time."""
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64, 256), "bfloat16"), Y: T.Tensor((64, 256), "bfloat16")):
    with T.Kernel(64, threads=32) as bx:
        for j in T.Parallel(256):
            value = T.cast(X[bx, j], "float32")
            Y[bx, j] = value * value
# >>> source
# extern "C" __global__ void __launch_bounds__(32, 16) main_kernel(
#     const uint16_t *__restrict__ X,
#     uint16_t *__restrict__ Y)
# {
#     const int32_t bx = blockIdx.x;
#     const int32_t tx = threadIdx.x;
#
#     __align__(16) uint16_t v[8];
#     *(uint4 *)v = *(const uint4 *)&X[bx * 256 + tx * 8];
#     __align__(16) uint16_t v_1[8];
#     *(uint32_t *)&v_1[0] = tl_pack_bf16(tl_bf16_to_f32(v[0]) * tl_bf16_to_f32(v[0]), tl_bf16_to_f32(v[1]) * tl_bf16_to_f32(v[1]));
#     *(uint32_t *)&v_1[2] = tl_pack_bf16(tl_bf16_to_f32(v[2]) * tl_bf16_to_f32(v[2]), tl_bf16_to_f32(v[3]) * tl_bf16_to_f32(v[3]));
#     *(uint32_t *)&v_1[4] = tl_pack_bf16(tl_bf16_to_f32(v[4]) * tl_bf16_to_f32(v[4]), tl_bf16_to_f32(v[5]) * tl_bf16_to_f32(v[5]));
#     *(uint32_t *)&v_1[6] = tl_pack_bf16(tl_bf16_to_f32(v[6]) * tl_bf16_to_f32(v[6]), tl_bf16_to_f32(v[7]) * tl_bf16_to_f32(v[7]));
#     *(uint4 *)&Y[bx * 256 + tx * 8] = *(const uint4 *)v_1;
# }
#
# <<<
