# run:
import tilelang
import tilelang.language as T


@tilelang.jit
def dynamic(b=32):
    m, n = T.dynamic("m, n")

    @T.prim_func
    def main(a: T.float32, X: T.Tensor((m, n), "float32"), Y: T.Tensor((m, n), "float32")):
        with T.Kernel(T.ceildiv(n, b), T.ceildiv(m, b), threads=32) as (bx, by):
            s = T.alloc_shared((b, b), "float32")
            T.copy(X[by * b, bx * b], s)
            for i, j in T.Parallel(b, b):
                s[i, j] = s[i, j] * a
            T.copy(s, Y[by * b, bx * b])

    return main
# >>> source
# static void main_kernel(void *tl_arg, int64_t tl_block, char *tl_scratch)
# {
#     const tl_frame *const tl_f = tl_arg;
#     (void)tl_scratch; (void)tl_block;
#     const int32_t m = (int32_t)tl_f->value[0]; (void)m;
#     const int32_t n = (int32_t)tl_f->value[1]; (void)n;
#     const float a = (float)tl_value_double(tl_f->value[2]); (void)a;
#     float *const X = tl_f->tensor[0]; (void)X;
#     float *const Y = tl_f->tensor[1]; (void)Y;
#     const int64_t tl_gx = (n + 31) / 32; (void)tl_gx;
#     const int64_t tl_gy = (m + 31) / 32; (void)tl_gy;
#     const int32_t bx = (int32_t)(tl_block % tl_gx); (void)bx;
#     const int32_t by = (int32_t)(tl_block / tl_gx); (void)by;
#     float *const s = (float *)(tl_scratch + 0); (void)s;
#     // T.copy(X[by * b, bx * b], s)  dynamic.py:14
#     if (m < by * 32 + 32 || n < bx * 32 + 32) {
#         for (int32_t i = 0; i < 32; i++) {
#             #pragma GCC ivdep
#             for (int32_t j = 0; j < 32; j++) {
#                 s[i * 32 + j] = 0.0f;
#             }
#         }
#     }
#     {
#         const int32_t i_1_end = tl_min_i32(m - by * 32, 32);
#         for (int32_t i_1 = 0; i_1 < i_1_end; i_1++) {
#             {
#                 const int32_t j_1_end = tl_min_i32(n - bx * 32, 32);
#                 #pragma GCC ivdep
#                 for (int32_t j_1 = 0; j_1 < j_1_end; j_1++) {
#                     s[i_1 * 32 + j_1] = X[(int64_t)n * by * 32 + (int64_t)n * i_1 + (int64_t)bx * 32 + j_1];
#                 }
#             }
#         }
#     }
#     // for i, j in T.Parallel(b, b)  dynamic.py:15
#     for (int32_t i_2 = 0; i_2 < 32; i_2++) {
#         #pragma GCC ivdep
#         for (int32_t j_2 = 0; j_2 < 32; j_2++) {
#             s[i_2 * 32 + j_2] = s[i_2 * 32 + j_2] * a;
#         }
#     }
#     // T.copy(s, Y[by * b, bx * b])  dynamic.py:17
#     {
#         const int32_t i_3_end = tl_min_i32(m - by * 32, 32);
#         for (int32_t i_3 = 0; i_3 < i_3_end; i_3++) {
#             {
#                 const int32_t j_3_end = tl_min_i32(n - bx * 32, 32);
#                 #pragma GCC ivdep
#                 for (int32_t j_3 = 0; j_3 < j_3_end; j_3++) {
#                     Y[(int64_t)n * by * 32 + (int64_t)n * i_3 + (int64_t)bx * 32 + j_3] = s[i_3 * 32 + j_3];
#                 }
#             }
#         }
#     }
# }
#
# int tl_entry(void *const *tl_tensor, const int64_t *tl_value, const tl_rt *tl_rt_)
# {
#     void *tl_work[1] = {0};
#     const tl_frame tl_fr = {tl_tensor, tl_value, tl_rt_, tl_work};
#     const tl_frame *const tl_f = &tl_fr; (void)tl_f;
#     const int32_t m = (int32_t)tl_f->value[0]; (void)m;
#     const int32_t n = (int32_t)tl_f->value[1]; (void)n;
#     const float a = (float)tl_value_double(tl_f->value[2]); (void)a;
#     {
#         const int64_t tl_n = tl_max_i64(tl_floordiv_i32(n + 31, 32), 0) * tl_max_i64(tl_floordiv_i32(m + 31, 32), 0);
#         tl_rt_->parallel(tl_rt_->ctx, tl_n, main_kernel, &tl_fr, 4096);
#         if (tl_rt_->failed(tl_rt_->ctx)) return 1;
#     }
#     return 0;
# }
# <<<
