# run: --target="cuda -arch=sm_80"
# A choice between two loads that eight neighbours make alike is two loads of 16 bytes, each where it is taken; and a
# tile of registers under a name for a flat index stays in registers.
import tilelang.language as T


@T.prim_func
def main(x: T.Tensor((64, 32), "float16"), y: T.Tensor((64, 32), "float16"), z: T.Tensor((2048,), "float16")):
    with T.Kernel(1, threads=256):
        a = T.alloc_fragment((2048,), "float16")
        for i, j in T.Parallel(256, 8):
            flat = i * 8 + j
            row = flat // 32
            col = flat % 32
            y[row, col] = T.if_then_else(col < 16, x[row, col + 16], x[row, col - 16])
        T.copy(z, a)
        for i, j in T.Parallel(256, 8):
            k = i * 8 + j
            z[k] = a[k] * a[k]
# >>> source
# extern "C" __global__ void __launch_bounds__(256, 2) main_kernel(
#     const uint16_t *__restrict__ x,
#     uint16_t *__restrict__ y,
#     uint16_t *__restrict__ z)
# {
#     __align__(16) uint16_t a[8];
#     const int32_t tx = threadIdx.x;
#
#     __align__(16) uint16_t v[8];
#     *(uint4 *)v = (tx % 4 < 2) ? *(const uint4 *)&x[tx * 8 + 16] : uint4{};
#     __align__(16) uint16_t v_1[8];
#     *(uint4 *)v_1 = (tx % 4 >= 2) ? *(const uint4 *)&x[tx * 8 - 16] : uint4{};
#     __align__(16) uint16_t v_2[8];
#     v_2[0] = (tx % 4 < 2 ? v[0] : v_1[0]);
#     v_2[1] = (tx % 4 < 2 ? v[1] : v_1[1]);
#     v_2[2] = (tx % 4 < 2 ? v[2] : v_1[2]);
#     v_2[3] = (tx % 4 < 2 ? v[3] : v_1[3]);
#     v_2[4] = (tx % 4 < 2 ? v[4] : v_1[4]);
#     v_2[5] = (tx % 4 < 2 ? v[5] : v_1[5]);
#     v_2[6] = (tx % 4 < 2 ? v[6] : v_1[6]);
#     v_2[7] = (tx % 4 < 2 ? v[7] : v_1[7]);
#     *(uint4 *)&y[tx * 8] = *(const uint4 *)v_2;
#     // T.copy(z, a)  wide_choice.py:16
#     __align__(16) uint16_t v_3[8];
#     *(uint4 *)v_3 = *(const uint4 *)&z[tx * 8];
#     a[0] = v_3[0];
#     a[1] = v_3[1];
#     a[2] = v_3[2];
#     a[3] = v_3[3];
#     a[4] = v_3[4];
#     a[5] = v_3[5];
#     a[6] = v_3[6];
#     a[7] = v_3[7];
#     __align__(16) uint16_t v_4[8];
#     *(uint32_t *)&v_4[0] = tl_mul_f16x2(*(const uint32_t *)(&a[0]), *(const uint32_t *)(&a[0]));
#     *(uint32_t *)&v_4[2] = tl_mul_f16x2(*(const uint32_t *)(&a[2]), *(const uint32_t *)(&a[2]));
#     *(uint32_t *)&v_4[4] = tl_mul_f16x2(*(const uint32_t *)(&a[4]), *(const uint32_t *)(&a[4]));
#     *(uint32_t *)&v_4[6] = tl_mul_f16x2(*(const uint32_t *)(&a[6]), *(const uint32_t *)(&a[6]));
#     *(uint4 *)&z[tx * 8] = *(const uint4 *)v_4;
# }
#
# <<<
