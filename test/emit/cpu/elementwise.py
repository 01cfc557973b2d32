# run: N=100
import tilelang
import tilelang.language as T


@tilelang.jit
def elementwise(N=100, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, 32), threads=32) as bx:
            for i in T.Parallel(32):
                if bx * 32 + i < N:
                    Y[bx * 32 + i] = T.max(X[bx * 32 + i] * 2 + 1, 0)

    return main
# >>> source
# static void main_kernel(void *tl_arg, int64_t tl_block, char *tl_scratch)
# {
#     const tl_frame *const tl_f = tl_arg;
#     (void)tl_scratch; (void)tl_block;
#     float *const X = tl_f->tensor[0]; (void)X;
#     float *const Y = tl_f->tensor[1]; (void)Y;
#     const int64_t tl_gx = 4; (void)tl_gx;
#     const int32_t bx = (int32_t)(tl_block); (void)bx;
#     // for i in T.Parallel(32)  elementwise.py:11
#     {
#         const int32_t i_end = tl_min_i32(100 - bx * 32, 32);
#         #pragma GCC ivdep
#         for (int32_t i = 0; i < i_end; i++) {
#             Y[bx * 32 + i] = tl_max_f32(X[bx * 32 + i] * 2.0f + 1.0f, 0.0f);
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
#         const int64_t tl_n = tl_max_i64(4, 0);
#         tl_rt_->parallel(tl_rt_->ctx, tl_n, main_kernel, &tl_fr, 0);
#         if (tl_rt_->failed(tl_rt_->ctx)) return 1;
#     }
#     return 0;
# }
# <<<
