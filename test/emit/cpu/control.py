# run: N=20
import tilelang
import tilelang.language as T


@tilelang.jit
def control(N=20):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((N,), "int32")):
        with T.Kernel(N, threads=1) as bx:
            n = T.alloc_var("int32")
            n = X[bx]
            while n > 1:
                n = n // 2
                if n == 5:
                    break
            for i in T.serial(3, 9, 2):
                if i == n:
                    continue
                n += i % 3
            T.device_assert(n >= 0, "never negative")
            Y[bx] = n if n > 2 else -n

    return main
# >>> source
# static void main_kernel(void *tl_arg, int64_t tl_block, char *tl_scratch)
# {
#     const tl_frame *const tl_f = tl_arg;
#     (void)tl_scratch; (void)tl_block;
#     int32_t *const X = tl_f->tensor[0]; (void)X;
#     int32_t *const Y = tl_f->tensor[1]; (void)Y;
#     const int64_t tl_gx = 20; (void)tl_gx;
#     const int32_t bx = (int32_t)(tl_block); (void)bx;
#     int32_t n = 0; (void)n;
#     n = 0;
#     n = X[bx];
#     while (n >= 2) {
#         n = tl_floordiv_i32(n, 2);
#         if (n == 5) {
#             break;
#         }
#     }
#     for (int32_t i_round = 0; i_round < 3; i_round++) {
#         const int32_t i = (int32_t)((uint32_t)(int32_t)((uint32_t)i_round * 2u) + 3u);
#         if (i == n) {
#             continue;
#         }
#         n = (int32_t)((uint32_t)tl_floormod_i32(i, 3) + (uint32_t)n);
#     }
#     if (!(n >= 0)) { tl_f->rt->fail(tl_f->rt->ctx, "test/emit/cpu/control.py:21: assertion failed: never negative"); return; }
#     Y[bx] = (n >= 3 ? n : (int32_t)(0u - (uint32_t)n));
# }
#
# int tl_entry(void *const *tl_tensor, const int64_t *tl_value, const tl_rt *tl_rt_)
# {
#     void *tl_work[1] = {0};
#     const tl_frame tl_fr = {tl_tensor, tl_value, tl_rt_, tl_work};
#     const tl_frame *const tl_f = &tl_fr; (void)tl_f;
#     {
#         const int64_t tl_n = tl_max_i64(20, 0);
#         tl_rt_->parallel(tl_rt_->ctx, tl_n, main_kernel, &tl_fr, 0);
#         if (tl_rt_->failed(tl_rt_->ctx)) return 1;
#     }
#     return 0;
# }
# <<<
