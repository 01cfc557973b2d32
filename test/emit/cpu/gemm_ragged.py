# run: M=50 N=60 K=70 dtype=bfloat16 tb=True
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=64, N=64, K=64, b=32, dtype="float32", accum="float32", ta=False, tb=False):
    @T.prim_func
    def main(
        A: T.Tensor((K, M) if ta else (M, K), dtype),
        B: T.Tensor((N, K) if tb else (K, N), dtype),
        C: T.Tensor((M, N), accum),
    ):
        with T.Kernel(T.ceildiv(N, b), T.ceildiv(M, b), threads=128) as (bx, by):
            a = T.alloc_shared((b, b), dtype)
            s = T.alloc_shared((b, b), dtype)
            c = T.alloc_fragment((b, b), accum)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, b), num_stages=2):
                if ta:
                    T.copy(A[k * b, by * b], a)
                else:
                    T.copy(A[by * b, k * b], a)
                if tb:
                    T.copy(B[bx * b, k * b], s)
                else:
                    T.copy(B[k * b, bx * b], s)
                T.gemm(a, s, c, transpose_A=ta, transpose_B=tb)
            T.copy(c, C[by * b, bx * b])

    return main
# >>> source
# #ifdef TL_AMX
# TL_TILE_AMX(tl_tile_bfloat16_bfloat16_float32_amx, bf16, float, uint16_t, 2, bf16x2, bf16x2)
# TL_TILE_GROUPS(tl_tile_bfloat16_bfloat16_float32_dot, bf16, float, uint16_t, 2, 1, bf16x2, uint16_t, bf16x2, uint16_t)
# TL_TILE_EITHER(tl_tile_bfloat16_bfloat16_float32, uint16_t, float)
# #elif defined(TL_HAS_BF16_DOT)
# TL_TILE_GROUPS(tl_tile_bfloat16_bfloat16_float32, bf16, float, uint16_t, 2, 1, bf16x2, uint16_t, bf16x2, uint16_t)
# #else
# TL_TILE(tl_tile_bfloat16_bfloat16_float32, f32, float, TL_NRF, bf16, uint16_t, 0, bf16, uint16_t)
# #endif
# static void main_kernel(void *tl_arg, int64_t tl_block, char *tl_scratch)
# {
#     const tl_frame *const tl_f = tl_arg;
#     (void)tl_scratch; (void)tl_block;
#     uint16_t *const A = tl_f->tensor[0]; (void)A;
#     uint16_t *const B = tl_f->tensor[1]; (void)B;
#     float *const C = tl_f->tensor[2]; (void)C;
#     const int64_t tl_gx = 2; (void)tl_gx;
#     const int64_t tl_gy = 2; (void)tl_gy;
#     const int32_t bx = (int32_t)(tl_block / tl_gy); (void)bx;
#     const int32_t by = (int32_t)(tl_block % tl_gy); (void)by;
#     float *const c = (float *)(tl_scratch + 49408); (void)c;
#     uint8_t *const pack = (uint8_t *)(tl_scratch + 0); (void)pack;
#     for (int32_t k = 0; k < 3; k++) {
#         // T.gemm(a, s, c, transpose_A=ta, transpose_B=tb)  gemm_ragged.py:28
#         if (k == 0) {
#             float *tl_c = &c[0LL];
#             for (long tl_i = 0; tl_i < 32; tl_i++) for (long tl_j = 0; tl_j < 32; tl_j++) tl_c[tl_i * 32LL + tl_j] = 0;
#         } /* c */
#         tl_tile_bfloat16_bfloat16_float32(tl_min_i32(50 - by * 32, 32), tl_min_i32(60 - bx * 32, 32), tl_min_i32(70 - k * 32, 32), &A[(int64_t)(by * 32) * 70 + k * 32], 70LL, 1LL, &B[(int64_t)(bx * 32) * 70 + k * 32], 1LL, 70LL, &c[0LL], 32LL, 1, 0, (char *)pack);
#     }
#     // T.copy(c, C[by * b, bx * b])  gemm_ragged.py:29
#     {
#         const int32_t i_end = tl_min_i32(50 - by * 32, 32);
#         for (int32_t i = 0; i < i_end; i++) {
#             {
#                 const int32_t j_end = tl_min_i32(60 - bx * 32, 32);
#                 #pragma GCC ivdep
#                 for (int32_t j = 0; j < j_end; j++) {
#                     C[bx * 32 + by * 1920 + i * 60 + j] = c[i * 32 + j];
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
#     const tl_span tl_spans[] = {
#         tl_span_of(tl_tensor[0], 16, 2, (const int64_t[]){50, 70}, 0, 0),
#         tl_span_of(tl_tensor[1], 16, 2, (const int64_t[]){60, 70}, 0, 0),
#         tl_span_of(tl_tensor[2], 32, 2, (const int64_t[]){50, 60}, 0, 1),
#     };
#     if (tl_spans_overlap(tl_spans, 3))
#         return TL_OVERLAP; /* another kernel is for that */
#     {
#         const int64_t tl_n = tl_max_i64(2, 0) * tl_max_i64(2, 0);
#         tl_rt_->parallel(tl_rt_->ctx, tl_n, main_kernel, &tl_fr, 53504);
#         if (tl_rt_->failed(tl_rt_->ctx)) return 1;
#     }
#     return 0;
# }
# <<<
