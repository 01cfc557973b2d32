# run: N=100
import tilelang
import tilelang.language as T


@tilelang.jit
def border(N=100):
    @T.prim_func
    def main(X: T.Tensor((8, N), "float32"), Y: T.Tensor((10, N), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for i, j in T.Parallel(10, N):
                Y[i, j] = T.if_then_else((i >= 1) & (i <= 8), X[i - 1, j], 0.0)

    return main
# >>> source
# static void main_kernel(void *tl_arg, int64_t tl_block, char *tl_scratch)
# {
#     const tl_frame *const tl_f = tl_arg;
#     (void)tl_scratch; (void)tl_block;
#     float *const X = tl_f->tensor[0]; (void)X;
#     float *const Y = tl_f->tensor[1]; (void)Y;
#     const int64_t tl_gx = 1; (void)tl_gx;
#     const int32_t bx = (int32_t)(tl_block); (void)bx;
#     // for i, j in T.Parallel(10, N)  choice.py:11
#     for (int32_t i = 0; i < 10; i++) {
#         if (__builtin_expect((i >= 1 && i < 9), 1)) {
#             #pragma GCC ivdep
#             for (int32_t j = 0; j < 100; j++) {
#                 Y[i * 100 + j] = X[i * 100 + j - 100];
#             }
#         } else {
#             #pragma GCC ivdep
#             for (int32_t j = 0; j < 100; j++) {
#                 Y[i * 100 + j] = 0.0f;
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
#     {
#         const int64_t tl_n = tl_max_i64(1, 0);
#         tl_rt_->parallel(tl_rt_->ctx, tl_n, main_kernel, &tl_fr, 0);
#         if (tl_rt_->failed(tl_rt_->ctx)) return 1;
#     }
#     return 0;
# }
# <<<
