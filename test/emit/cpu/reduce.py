# run: M=16 N=24
import tilelang
import tilelang.language as T


@tilelang.jit
def reduce(M=16, N=24):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M,), "float32"), Z: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            x = T.alloc_fragment((M, N), "float32")
            y = T.alloc_fragment((M,), "float32")
            z = T.alloc_fragment((N,), "float32")
            T.copy(X, x)
            T.reduce_sum(x, y, dim=1)
            T.reduce_max(x, z, dim=0)
            T.copy(y, Y)
            T.copy(z, Z)

    return main
# >>> source
# static void main_kernel(void *tl_arg, int64_t tl_block, char *tl_scratch)
# {
#     const tl_frame *const tl_f = tl_arg;
#     (void)tl_scratch; (void)tl_block;
#     float *const X = tl_f->tensor[0]; (void)X;
#     float *const Y = tl_f->tensor[1]; (void)Y;
#     float *const Z = tl_f->tensor[2]; (void)Z;
#     const int64_t tl_gx = 1; (void)tl_gx;
#     const int32_t bx = (int32_t)(tl_block); (void)bx;
#     float y[16] TL_ALIGN; (void)y;
#     float z[24] TL_ALIGN; (void)z;
#     float acc = 0; (void)acc;
#     // T.reduce_max(x, z, dim=0)  reduce.py:16
#     #pragma GCC ivdep
#     for (int32_t i = 0; i < 24; i++) {
#         z[i] = (-__builtin_inff());
#     }
#     // T.copy(X, x)  reduce.py:14
#     for (int32_t i_1 = 0; i_1 < 16; i_1++) {
#         // T.reduce_sum(x, y, dim=1)  reduce.py:15
#         acc = 0.0f;
#         // T.copy(X, x)  reduce.py:14
#         {
#             int32_t j_at = 0;
#             const int32_t j_end = j_at + 24;
#             tl_v acc_v0 = {0};
#             for (; j_at <= j_end - 1 * TL_LANES; j_at += 1 * TL_LANES) {
#                 {
#                     const int32_t j = j_at + 0 * TL_LANES;
#                     const tl_v x = tl_vload(&X[i_1 * 24 + j]);
#                     const tl_v x_1 = x;
#                     acc_v0 += x;
#                     tl_vstore(&z[j], tl_vmax(tl_vload(&z[j]), x_1));
#                 }
#             }
#             acc += tl_vsum(acc_v0);
#         }
#         // T.reduce_sum(x, y, dim=1)  reduce.py:15
#         y[i_1] = acc;
#     }
#     // T.copy(y, Y)  reduce.py:17
#     #pragma GCC ivdep
#     for (int32_t i_2 = 0; i_2 < 16; i_2++) {
#         Y[i_2] = y[i_2];
#     }
#     // T.copy(z, Z)  reduce.py:18
#     #pragma GCC ivdep
#     for (int32_t i_3 = 0; i_3 < 24; i_3++) {
#         Z[i_3] = z[i_3];
#     }
# }
#
# int tl_entry(void *const *tl_tensor, const int64_t *tl_value, const tl_rt *tl_rt_)
# {
#     void *tl_work[1] = {0};
#     const tl_frame tl_fr = {tl_tensor, tl_value, tl_rt_, tl_work};
#     const tl_frame *const tl_f = &tl_fr; (void)tl_f;
#     const tl_span tl_spans[] = {
#         tl_span_of(tl_tensor[0], 32, 2, (const int64_t[]){16, 24}, 0, 0),
#         tl_span_of(tl_tensor[1], 32, 1, (const int64_t[]){16}, 0, 1),
#         tl_span_of(tl_tensor[2], 32, 1, (const int64_t[]){24}, 0, 1),
#     };
#     if (tl_spans_overlap(tl_spans, 3))
#         return TL_OVERLAP; /* another kernel is for that */
#     {
#         const int64_t tl_n = tl_max_i64(1, 0);
#         tl_rt_->parallel(tl_rt_->ctx, tl_n, main_kernel, &tl_fr, 192);
#         if (tl_rt_->failed(tl_rt_->ctx)) return 1;
#     }
#     return 0;
# }
# <<<
