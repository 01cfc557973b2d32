# run: N=100
import tilelang
import tilelang.language as T


@tilelang.jit
def windows(N=100):
    @T.prim_func
    def main(X: T.Tensor((2, N + 3), "float32"), W: T.Tensor((2, 4), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for j in T.Parallel(N):
                a = X[0, j] * W[0, 0] + X[0, j + 1] * W[0, 1] + X[0, j + 2] * W[0, 2] + X[0, j + 3] * W[0, 3]
                b = X[1, j] * W[1, 0] + X[1, j + 1] * W[1, 1] + X[1, j + 2] * W[1, 2] + X[1, j + 3] * W[1, 3]
                Y[j] = a + b

    return main
# >>> source
# static void main_kernel(void *tl_arg, int64_t tl_block, char *tl_scratch)
# {
#     const tl_frame *const tl_f = tl_arg;
#     (void)tl_scratch; (void)tl_block;
#     float *const X = tl_f->tensor[0]; (void)X;
#     float *const W = tl_f->tensor[1]; (void)W;
#     float *const Y = tl_f->tensor[2]; (void)Y;
#     const int64_t tl_gx = 1; (void)tl_gx;
#     const int32_t bx = (int32_t)(tl_block); (void)bx;
#     // for j in T.Parallel(N)  windows.py:11
#     {
#         int32_t j_at = 0;
#         const int32_t j_end = j_at + 100;
#         for (; j_at <= j_end - 1 * TL_LANES; j_at += 1 * TL_LANES) {
#             {
#                 const int32_t j = j_at + 0 * TL_LANES;
#                 const tl_v a = ((((tl_vload(&X[j]) * tl_vsplat(W[0])) + (tl_vload(&X[j + 1]) * tl_vsplat(W[1]))) + (tl_vload(&X[j + 2]) * tl_vsplat(W[2]))) + (tl_vload(&X[j + 3]) * tl_vsplat(W[3])));
#                 const tl_v b = ((((tl_vload(&X[j + 103]) * tl_vsplat(W[4])) + (tl_vload(&X[j + 104]) * tl_vsplat(W[5]))) + (tl_vload(&X[j + 105]) * tl_vsplat(W[6]))) + (tl_vload(&X[j + 106]) * tl_vsplat(W[7])));
#                 tl_vstore(&Y[j], (a + b));
#             }
#         }
#         if (j_at < j_end) {
#             const int32_t j = j_at, j_left = j_end - j_at;
#             const tl_v a = ((((tl_vload_few(&X[j], j_left) * tl_vsplat(W[0])) + (tl_vload_few(&X[j + 1], j_left) * tl_vsplat(W[1]))) + (tl_vload_few(&X[j + 2], j_left) * tl_vsplat(W[2]))) + (tl_vload_few(&X[j + 3], j_left) * tl_vsplat(W[3])));
#             const tl_v b = ((((tl_vload_few(&X[j + 103], j_left) * tl_vsplat(W[4])) + (tl_vload_few(&X[j + 104], j_left) * tl_vsplat(W[5]))) + (tl_vload_few(&X[j + 105], j_left) * tl_vsplat(W[6]))) + (tl_vload_few(&X[j + 106], j_left) * tl_vsplat(W[7])));
#             tl_vstore_few(&Y[j], (a + b), j_left);
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
