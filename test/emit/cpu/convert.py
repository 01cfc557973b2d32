# run: N=100
import tilelang
import tilelang.language as T


@tilelang.jit
def convert(N=100):
    @T.prim_func
    def main(X: T.Tensor((N,), "float16"), Y: T.Tensor((N,), "float8_e4m3fn"), Z: T.Tensor((N,), "int4")):
        with T.Kernel(1, threads=32) as bx:
            f = T.alloc_fragment((N,), "float32")
            T.copy(X, f)
            T.copy(f, Y)
            T.copy(f, Z)

    return main
# >>> source
# static void main_kernel(void *tl_arg, int64_t tl_block, char *tl_scratch)
# {
#     const tl_frame *const tl_f = tl_arg;
#     (void)tl_scratch; (void)tl_block;
#     uint16_t *const X = tl_f->tensor[0]; (void)X;
#     uint8_t *const Y = tl_f->tensor[1]; (void)Y;
#     int8_t *const Z = tl_f->tensor[2]; (void)Z;
#     const int64_t tl_gx = 1; (void)tl_gx;
#     const int32_t bx = (int32_t)(tl_block); (void)bx;
#     // T.copy(X, f)  convert.py:12
#     #pragma GCC ivdep
#     for (int32_t i = 0; i < 100; i++) {
#         const float f = tl_f16_to_f32(X[i]);
#         const float f_1 = f;
#         // T.copy(f, Y)  convert.py:13
#         Y[i] = tl_f32_to_e4m3fn(f);
#         // T.copy(f, Z)  convert.py:14
#         tl_store_nibble(Z, i, tl_f32_to_int4(f_1));
#     }
# }
#
# int tl_entry(void *const *tl_tensor, const int64_t *tl_value, const tl_rt *tl_rt_)
# {
#     void *tl_work[1] = {0};
#     const tl_frame tl_fr = {tl_tensor, tl_value, tl_rt_, tl_work};
#     const tl_frame *const tl_f = &tl_fr; (void)tl_f;
#     const tl_span tl_spans[] = {
#         tl_span_of(tl_tensor[0], 16, 1, (const int64_t[]){100}, 0, 0),
#         tl_span_of(tl_tensor[1], 8, 1, (const int64_t[]){100}, 0, 1),
#         tl_span_of(tl_tensor[2], 4, 1, (const int64_t[]){100}, 0, 1),
#     };
#     if (tl_spans_overlap(tl_spans, 3))
#         return TL_OVERLAP; /* another kernel is for that */
#     {
#         const int64_t tl_n = tl_max_i64(1, 0);
#         tl_rt_->parallel(tl_rt_->ctx, tl_n, main_kernel, &tl_fr, 0);
#         if (tl_rt_->failed(tl_rt_->ctx)) return 1;
#     }
#     return 0;
# }
# <<<
