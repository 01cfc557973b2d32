# run: --target="opencl -arch=local32k"
# Bytes and halves as they are; atomics of floats, of halves within their word and of 64 bits; a view of another type; an
# assertion; an integer of 64 bits; a name that OpenCL C has taken.
import tilelang
import tilelang.language as T


@tilelang.jit
def main(N=256):
    @T.prim_func
    def main(
        kernel: T.Tensor((N,), "uint8"),
        H: T.Tensor((N,), "float16"),
        O: T.Tensor((N,), "uint8"),
        S: T.Tensor((1,), "float32"),
        L: T.Tensor((2,), "int64"),
    ):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((N,), "uint8")
            w = T.view(s, (N // 4,), "uint32")
            f = T.alloc_fragment((N,), "float32")
            total = T.alloc_fragment((1,), "float32")
            T.copy(kernel, s)
            for i in T.Parallel(N):
                O[i] = s[N - 1 - i] + 1
            for i in T.Parallel(N):
                f[i] = T.max(H[i], T.cast(0, "float16"))
            T.reduce_sum(f, total)
            T.device_assert(total[0] >= 0, "a sum of positive numbers")
            T.atomic_add(S[0], total[0])
            for i in T.Parallel(N // 4):
                T.atomic_max(L[i % 2], T.cast(w[i], "int64") - 5000000000)
            T.atomic_add(H[0], T.cast(1, "float16"))

    return main
# >>> source
# #pragma OPENCL FP_CONTRACT ON
#
# // tl_failed 1 "test/emit/opencl/words.py:29: assertion failed: a sum of positive numbers"
#
# typedef uint8_t tl_any_uint8_t __attribute__((may_alias));
# typedef uint32_t tl_any_uint32_t __attribute__((may_alias));
# typedef float tl_any_float __attribute__((may_alias));
# TL_DEVICE float tl_atomic_add_float32_global(volatile __global float *p, float x)
# {
#     volatile __global uint32_t *const at = (volatile __global uint32_t *)p;
#     for (uint32_t was = *at, seen;; was = seen) {
#         const float a = as_float((uint32_t)was);
#         const uint32_t next = as_uint((float)(a + x));
#         seen = atomic_cmpxchg(at, was, next);
#         if (seen == was)
#             return a;
#     }
# }
#
# TL_DEVICE int64_t tl_atomic_max_int64_global(volatile __global int64_t *p, int64_t x)
# {
#     volatile __global uint64_t *const at = (volatile __global uint64_t *)p;
#     for (uint64_t was = *at, seen;; was = seen) {
#         const int64_t a = (int64_t)((uint64_t)was);
#         const uint64_t next = (uint64_t)((int64_t)(a > x ? a : x));
#         seen = atom_cmpxchg(at, was, next);
#         if (seen == was)
#             return a;
#     }
# }
#
# TL_DEVICE float tl_atomic_add_float16_global(volatile __global uint16_t *p, float x)
# {
#     volatile __global uint32_t *const at = (volatile __global uint32_t *)((uintptr_t)p & ~(uintptr_t)3);
#     const uint32_t shift = (uint32_t)((uintptr_t)p & 3) * 8;
#     for (uint32_t was = *at, seen;; was = seen) {
#         const float a = tl_f16_to_f32((uint16_t)(was >> shift));
#         const uint16_t next = tl_f32_to_f16((float)(a + x));
#         seen = atomic_cmpxchg(at, was, (was & ~(0xffffu << shift)) | (uint32_t)next << shift);
#         if (seen == was)
#             return a;
#     }
# }
#
# __attribute__((reqd_work_group_size(64, 1, 1)))
# __kernel void main_kernel(__global const uint8_t *restrict kernel_1, __global uint16_t *restrict H, __global uint8_t *restrict O, __global float *restrict S, __global int64_t *restrict L TL_FLAG)
# {
#     TL_LOCAL(tl_shared, 512);
#     __local tl_any_uint8_t *const s = (__local tl_any_uint8_t *)(tl_shared + 0);
#     __local tl_any_uint32_t *const w = (__local tl_any_uint32_t *)s;
#     float f[4] __attribute__((aligned(16)));
#     float total[1] __attribute__((aligned(16)));
#     float acc[1] __attribute__((aligned(16)));
#     __local tl_any_float *const total_parts = (__local tl_any_float *)(tl_shared + 256);
#     const int32_t tx = (int32_t)get_local_id(0);
#     // T.copy(kernel, s)  words.py:23
#     *(__local tl_any_uint32_t *)&s[tx * 4] = *(const __global tl_any_uint32_t *)&kernel_1[tx * 4];
#     // for i in T.Parallel(N)  words.py:24
#     barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#     for (int32_t s_1 = 0; s_1 < 4; s_1++) {
#         O[tx + s_1 * 64] = (uint8_t)(int32_t)((uint32_t)(int32_t)s[255 - tx - s_1 * 64] + 1u);
#     }
#     {
#         uint16_t v[4] __attribute__((aligned(16)));
#         *(__private uint2 *)&v[0] = *(const __global uint2 *)&H[tx * 4];
#         f[0] = tl_max_f32(tl_f16_to_f32(v[0]), 0.0f);
#         f[1] = tl_max_f32(tl_f16_to_f32(v[1]), 0.0f);
#         f[2] = tl_max_f32(tl_f16_to_f32(v[2]), 0.0f);
#         f[3] = tl_max_f32(tl_f16_to_f32(v[3]), 0.0f);
#     }
#     // T.reduce_sum(f, total)  words.py:28
#     acc[0] = 0.0f;
#     #pragma unroll
#     for (int32_t s_2 = 0; s_2 < 4; s_2++) {
#         acc[0] = acc[0] + f[s_2];
#     }
#     total_parts[tx] = acc[0];
#     barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#     total[0] = total_parts[0] + total_parts[1] + (total_parts[2] + total_parts[3]) + (total_parts[4] + total_parts[5] + (total_parts[6] + total_parts[7])) + (total_parts[8] + total_parts[9] + (total_parts[10] + total_parts[11]) + (total_parts[12] + total_parts[13] + (total_parts[14] + total_parts[15]))) + (total_parts[16] + total_parts[17] + (total_parts[18] + total_parts[19]) + (total_parts[20] + total_parts[21] + (total_parts[22] + total_parts[23])) + (total_parts[24] + total_parts[25] + (total_parts[26] + total_parts[27]) + (total_parts[28] + total_parts[29] + (total_parts[30] + total_parts[31])))) + (total_parts[32] + total_parts[33] + (total_parts[34] + total_parts[35]) + (total_parts[36] + total_parts[37] + (total_parts[38] + total_parts[39])) + (total_parts[40] + total_parts[41] + (total_parts[42] + total_parts[43]) + (total_parts[44] + total_parts[45] + (total_parts[46] + total_parts[47]))) + (total_parts[48] + total_parts[49] + (total_parts[50] + total_parts[51]) + (total_parts[52] + total_parts[53] + (total_parts[54] + total_parts[55])) + (total_parts[56] + total_parts[57] + (total_parts[58] + total_parts[59]) + (total_parts[60] + total_parts[61] + (total_parts[62] + total_parts[63])))));
#     if (!(total[0] >= 0.0f)) TL_FAIL(1);
#     tl_atomic_add_float32_global((volatile __global float *)&S[0], total[0]);
#     tl_atomic_max_int64_global((volatile __global int64_t *)&L[tx % 2], (int64_t)(int64_t)((uint64_t)(int64_t)w[tx] - 5000000000ul));
#     tl_atomic_add_float16_global((volatile __global uint16_t *)&H[0], 1.0f);
# }
#
# <<<
