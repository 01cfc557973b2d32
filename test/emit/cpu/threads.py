# run: N=64
import tilelang
import tilelang.language as T


@tilelang.jit
def threads(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=N) as bx:
            s = T.alloc_shared((N,), "float32")
            tx = T.get_thread_binding()
            s[tx] = X[tx]
            T.sync_threads()
            Y[tx] = s[N - 1 - tx] + T.shfl_xor(s[tx], 1)

    return main
# >>> source
# static void main_kernel_thread(tl_thread *tl_t)
# {
#     const tl_frame *const tl_f = tl_t->block->frame;
#     char *const tl_scratch = tl_t->block->scratch; (void)tl_scratch;
#     const int64_t tl_block = tl_t->block->index; (void)tl_block;
#     float *const X = tl_f->tensor[0]; (void)X;
#     float *const Y = tl_f->tensor[1]; (void)Y;
#     const int64_t tl_gx = 1; (void)tl_gx;
#     const int32_t bx = (int32_t)(tl_block); (void)bx;
#     float *const s = (float *)(tl_scratch + 0); (void)s;
#     const int32_t tx = tl_t->id / 1 % 64; (void)tx;
#     const int32_t ty = tl_t->id / 64 % 1; (void)ty;
#     const int32_t tz = tl_t->id / 64 % 1; (void)tz;
#     s[tx] = X[tx];
#     tl_barrier(tl_t, 0, 0, 1);
#     const float shfl_xor = (float)tl_unslot_float(tl_shfl_xor(tl_t, 1, tl_slot_float(s[tx]), 1, 32));
#     Y[tx] = s[63 - tx] + shfl_xor;
# }
#
# static void main_kernel(void *tl_arg, int64_t tl_block, char *tl_scratch)
# {
#     const tl_frame *const tl_f = tl_arg;
#     tl_run_block(tl_f, tl_block, tl_scratch, 256, 64, 65536, main_kernel_thread);
# }
#
# int tl_entry(void *const *tl_tensor, const int64_t *tl_value, const tl_rt *tl_rt_)
# {
#     void *tl_work[1] = {0};
#     const tl_frame tl_fr = {tl_tensor, tl_value, tl_rt_, tl_work};
#     const tl_frame *const tl_f = &tl_fr; (void)tl_f;
#     {
#         const int64_t tl_n = tl_max_i64(1, 0);
#         tl_rt_->parallel(tl_rt_->ctx, tl_n, main_kernel, &tl_fr, 4202752);
#         if (tl_rt_->failed(tl_rt_->ctx)) return 1;
#     }
#     return 0;
# }
# <<<
