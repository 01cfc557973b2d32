# run: N=40
import tilelang
import tilelang.language as T


@tilelang.jit
def launches(N=40):
    @T.prim_func
    def main(n: T.int32, X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        part = T.alloc_global((N,), "float32")
        with T.Kernel(N, threads=1) as bx:
            part[bx] = X[bx] * 2
        if n > 3:
            with T.Kernel(N, threads=1) as bx:
                T.atomic_add(Y[bx // 2], part[N - 1 - bx])

    return main
# >>> source
# static void main_kernel(void *tl_arg, int64_t tl_block, char *tl_scratch)
# {
#     const tl_frame *const tl_f = tl_arg;
#     (void)tl_scratch; (void)tl_block;
#     const int32_t n = (int32_t)tl_f->value[0]; (void)n;
#     float *const X = tl_f->tensor[0]; (void)X;
#     float *const Y = tl_f->tensor[1]; (void)Y;
#     float *const part = tl_f->work[0]; (void)part;
#     const int64_t tl_gx = 40; (void)tl_gx;
#     const int32_t bx = (int32_t)(tl_block); (void)bx;
#     part[bx] = X[bx] * 2.0f;
# }
#
# static void main_kernel_1(void *tl_arg, int64_t tl_block, char *tl_scratch)
# {
#     const tl_frame *const tl_f = tl_arg;
#     (void)tl_scratch; (void)tl_block;
#     const int32_t n = (int32_t)tl_f->value[0]; (void)n;
#     float *const X = tl_f->tensor[0]; (void)X;
#     float *const Y = tl_f->tensor[1]; (void)Y;
#     float *const part = tl_f->work[0]; (void)part;
#     const int64_t tl_gx = 40; (void)tl_gx;
#     const int32_t bx_1 = (int32_t)(tl_block); (void)bx_1;
#     tl_atomic_add_float32(&Y[bx_1 / 2], part[39 - bx_1]);
# }
#
# int tl_entry(void *const *tl_tensor, const int64_t *tl_value, const tl_rt *tl_rt_)
# {
#     void *tl_work[1] = {0};
#     const tl_frame tl_fr = {tl_tensor, tl_value, tl_rt_, tl_work};
#     const tl_frame *const tl_f = &tl_fr; (void)tl_f;
#     const int32_t n = (int32_t)tl_f->value[0]; (void)n;
#     tl_work[0] = tl_rt_->workspace(tl_rt_->ctx, 0, ((int64_t)40) * 32 / 8 + 64);
#     if (!tl_work[0]) return 1;
#     {
#         const int64_t tl_n = tl_max_i64(40, 0);
#         tl_rt_->parallel(tl_rt_->ctx, tl_n, main_kernel, &tl_fr, 0);
#         if (tl_rt_->failed(tl_rt_->ctx)) return 1;
#     }
#     if (n > 3) {
#         {
#             const int64_t tl_n = tl_max_i64(40, 0);
#             tl_rt_->parallel(tl_rt_->ctx, tl_n, main_kernel_1, &tl_fr, 0);
#             if (tl_rt_->failed(tl_rt_->ctx)) return 1;
#         }
#     }
#     return 0;
# }
# <<<
