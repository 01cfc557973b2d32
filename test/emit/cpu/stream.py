# run: M=1048576
import tilelang
import tilelang.language as T


@tilelang.jit
def scale(M=1048576, N=4100):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(M, threads=32) as bx:
            x = T.alloc_fragment((N,), "float32")
            top = T.alloc_fragment((1,), "float32")
            T.copy(X[bx, 0], x)
            T.reduce_max(x, top, dim=0)
            for j in T.Parallel(N):
                x[j] = T.exp2(x[j] - top[0])
            T.copy(x, Y[bx, 0])

    return main
# >>> source
# static void main_kernel(void *tl_arg, int64_t tl_block, char *tl_scratch)
# {
#     const tl_frame *const tl_f = tl_arg;
#     (void)tl_scratch; (void)tl_block;
#     float *const X = tl_f->tensor[0]; (void)X;
#     float *const Y = tl_f->tensor[1]; (void)Y;
#     const int64_t tl_gx = 1048576; (void)tl_gx;
#     const int32_t bx = (int32_t)(tl_block); (void)bx;
#     float top[1] TL_ALIGN; (void)top;
#     float acc = 0; (void)acc;
#     // T.reduce_max(x, top, dim=0)  stream.py:14
#     acc = (-__builtin_inff());
#     // T.copy(X[bx, 0], x)  stream.py:13
#     {
#         int32_t i_at = 0;
#         const int32_t i_end = i_at + 4100;
#         tl_v acc_v0 = tl_vsplat(acc);
#         tl_v acc_v1 = tl_vsplat(acc);
#         tl_v acc_v2 = tl_vsplat(acc);
#         tl_v acc_v3 = tl_vsplat(acc);
#         for (; i_at <= i_end - 4 * TL_LANES; i_at += 4 * TL_LANES) {
#             {
#                 const int32_t i = i_at + 0 * TL_LANES;
#                 const tl_v x = tl_vload(&X[(int64_t)bx * 4100 + i]);
#                 acc_v0 = tl_vabove(x, acc_v0);
#             }
#             {
#                 const int32_t i = i_at + 1 * TL_LANES;
#                 const tl_v x = tl_vload(&X[(int64_t)bx * 4100 + i]);
#                 acc_v1 = tl_vabove(x, acc_v1);
#             }
#             {
#                 const int32_t i = i_at + 2 * TL_LANES;
#                 const tl_v x = tl_vload(&X[(int64_t)bx * 4100 + i]);
#                 acc_v2 = tl_vabove(x, acc_v2);
#             }
#             {
#                 const int32_t i = i_at + 3 * TL_LANES;
#                 const tl_v x = tl_vload(&X[(int64_t)bx * 4100 + i]);
#                 acc_v3 = tl_vabove(x, acc_v3);
#             }
#         }
#         acc_v0 = tl_vabove(acc_v0, acc_v2);
#         acc_v1 = tl_vabove(acc_v1, acc_v3);
#         acc_v0 = tl_vabove(acc_v0, acc_v1);
#         acc = tl_vhighest(acc_v0);
#         for (; i_at < i_end; i_at++) {
#             const int32_t i = i_at;
#             const float x = X[(int64_t)bx * 4100 + i];
#             { float tl_x = x; acc = tl_x > acc ? tl_x : acc; }
#         }
#     }
#     // T.reduce_max(x, top, dim=0)  stream.py:14
#     top[0] = acc;
#     const float top_1 = top[0];
#     // for j in T.Parallel(N)  stream.py:15
#     {
#         int32_t j_at = 0;
#         const int32_t j_end = j_at + 4100;
#         for (; j_at < j_end; j_at++) {
#             const int32_t j = j_at;
#             if (!((uintptr_t)&Y[(int64_t)bx * 4100 + j] & (TL_VECTOR_BYTES - 1))) break;
#             const float x_1 = tl_exp2f(X[(int64_t)bx * 4100 + j] - top_1);
#             // T.copy(x, Y[bx, 0])  stream.py:17
#             Y[(int64_t)bx * 4100 + j] = x_1;
#         }
#         for (; j_at <= j_end - 1 * TL_LANES; j_at += 1 * TL_LANES) {
#             {
#                 const int32_t j = j_at + 0 * TL_LANES;
#                 const tl_v x_1 = tl_vexp2((tl_vload(&X[(int64_t)bx * 4100 + j]) - tl_vsplat(top_1)));
#                 tl_vstream(&Y[(int64_t)bx * 4100 + j], x_1);
#             }
#         }
#         if (j_at < j_end) {
#             const int32_t j = j_at, j_left = j_end - j_at;
#             const tl_v x_1 = tl_vexp2((tl_vload_few(&X[(int64_t)bx * 4100 + j], j_left) - tl_vsplat(top_1)));
#             tl_vstore_few(&Y[(int64_t)bx * 4100 + j], x_1, j_left);
#         }
#     }
#     tl_vfence();
# }
#
# int tl_entry(void *const *tl_tensor, const int64_t *tl_value, const tl_rt *tl_rt_)
# {
#     void *tl_work[1] = {0};
#     const tl_frame tl_fr = {tl_tensor, tl_value, tl_rt_, tl_work};
#     const tl_frame *const tl_f = &tl_fr; (void)tl_f;
#     const tl_span tl_spans[] = {
#         tl_span_of(tl_tensor[0], 32, 2, (const int64_t[]){1048576, 4100}, 0, 0),
#         tl_span_of(tl_tensor[1], 32, 2, (const int64_t[]){1048576, 4100}, 0, 1),
#     };
#     if (tl_spans_overlap(tl_spans, 2))
#         return TL_OVERLAP; /* another kernel is for that */
#     {
#         const int64_t tl_n = tl_max_i64(1048576, 0);
#         tl_rt_->parallel(tl_rt_->ctx, tl_n, main_kernel, &tl_fr, 64);
#         if (tl_rt_->failed(tl_rt_->ctx)) return 1;
#     }
#     return 0;
# }
# <<<
