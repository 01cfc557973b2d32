# run: --target="opencl -arch=local32k -subgroup=16 -fp16"
# Threads of a subgroup hand values to each other.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8, 64), "float16"), B: T.Tensor((8,), "float32")):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_fragment((8, 64), "float32")
        s = T.alloc_fragment((8,), "float32")
        T.copy(A, a)
        T.reduce_max(a, s, dim=1)
        T.copy(s, B)
# >>> source
# #pragma OPENCL FP_CONTRACT ON
#
# __attribute__((intel_reqd_sub_group_size(16)))
# __attribute__((reqd_work_group_size(128, 1, 1)))
# __kernel void main_kernel(__global const uint16_t *restrict A, __global float *restrict B)
# {
#     float a[4] __attribute__((aligned(16)));
#     float s[1] __attribute__((aligned(16)));
#     float acc[1] __attribute__((aligned(16)));
#     const int32_t tx = (int32_t)get_local_id(0);
#     // T.copy(A, a)  lanes.py:11
#     {
#         uint16_t v[4] __attribute__((aligned(16)));
#         *(__private uint2 *)&v[0] = *(const __global uint2 *)&A[tx * 4];
#         a[0] = tl_f16_to_f32(v[0]);
#         a[1] = tl_f16_to_f32(v[1]);
#         a[2] = tl_f16_to_f32(v[2]);
#         a[3] = tl_f16_to_f32(v[3]);
#     }
#     // T.reduce_max(a, s, dim=1)  lanes.py:12
#     acc[0] = (-INFINITY);
#     #pragma unroll
#     for (int32_t s_1 = 0; s_1 < 4; s_1++) {
#         acc[0] = tl_max_f32(acc[0], a[s_1]);
#     }
#     const float other = tl_lane_xor((float)acc[0], 1, 16);
#     acc[0] = tl_max_f32(acc[0], other);
#     const float other_1 = tl_lane_xor((float)acc[0], 2, 16);
#     acc[0] = tl_max_f32(acc[0], other_1);
#     const float other_2 = tl_lane_xor((float)acc[0], 4, 16);
#     acc[0] = tl_max_f32(acc[0], other_2);
#     const float other_3 = tl_lane_xor((float)acc[0], 8, 16);
#     acc[0] = tl_max_f32(acc[0], other_3);
#     s[0] = acc[0];
#     // T.copy(s, B)  lanes.py:13
#     if (tx % 16 == 0) B[tx / 16] = s[0];
# }
#
# <<<
