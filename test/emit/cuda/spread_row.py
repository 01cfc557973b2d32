# run: --target="cuda -arch=sm_90a"
"""A row is needed at columns that depend on the thread: what a thread keeps of it is an array in memory, and the loop
that fills it is not unrolled.  96 copies of a condition with eight cases took NVRTC more than two minutes."""
import tilelang.language as T

by_turns = T.Fragment((42, 96), forward_fn=lambda i, j: ((i * 96 + j) % 256, (i * 96 + j) // 256))


@T.prim_func
def main(X: T.Tensor((96,), "int32"), Y: T.Tensor((42, 96), "int8"), Z: T.Tensor((96,), "int32")):
    with T.Kernel(1, threads=256):
        x = T.alloc_fragment((96,), "int32")
        y = T.alloc_shared((42, 96), "int8")
        T.copy(X, x)
        T.clear(y)
        for k in T.serial(3):
            for i, j in T.Parallel(42, 96, loop_layout=by_turns):
                if j % 2 == 0:
                    y[i, j] = T.cast(T.if_then_else(i % 2 == 0, x[j] + x[j], 1), "int8")
            for i in T.Parallel(96):
                x[i] = x[i] + k
        T.copy(y, Y)
        T.copy(x, Z)
# >>> source
# extern "C" __global__ void __launch_bounds__(256, 1) main_kernel(
#     const int32_t *__restrict__ X,
#     int8_t *__restrict__ Y,
#     int32_t *__restrict__ Z)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     int32_t x[96];
#     int8_t *const y = (int8_t *)(tl_shared + 0);
#     const int32_t tx = threadIdx.x;
#
#     // T.copy(X, x)  spread_row.py:14
#     #pragma unroll 1
#     for (int32_t i = 0; i < 96; i++) {
#         if (((((((tx == i || tx == i + 96) || tx == (i + 192) % 256) || tx == i + 32) || tx == i + 128) || tx == (i + 224) % 256) || tx == i + 64) || tx == i + 160) {
#             x[i] = X[i];
#         }
#     }
#     // T.clear(y)  spread_row.py:15
#     #pragma unroll
#     for (int32_t s = 0; s < 2; s++) {
#         if (tx + s * 256 < 504) {
#             __align__(16) int8_t v[8];
#             v[0] = 0;
#             v[1] = 0;
#             v[2] = 0;
#             v[3] = 0;
#             v[4] = 0;
#             v[5] = 0;
#             v[6] = 0;
#             v[7] = 0;
#             *(uint2 *)&y[(tx + s * 256) / 12 * 96 + (tx + s * 4) % 12 * 8] = *(const uint2 *)v;
#         }
#     }
#     #pragma unroll 1
#     for (int32_t k = 0; k < 3; k++) {
#         // for i, j in T.Parallel(42, 96, loop_layout=by_turns)  spread_row.py:17
#         __syncthreads();
#         #pragma unroll
#         for (int32_t s_1 = 0; s_1 < 16; s_1++) {
#             if (tx + s_1 * 256 < 4032) {
#                 if (tx % 2 == 0) {
#                     y[(tx + s_1 * 256) / 96 * 96 + (tx + s_1 * 64) % 96] = (int8_t)((tx + s_1 * 256) / 96 % 2 == 0 ? (int32_t)((uint32_t)x[(tx + s_1 * 64) % 96] * 2u) : 1);
#                 }
#             }
#         }
#         // for i in T.Parallel(96)  spread_row.py:20
#         #pragma unroll 1
#         for (int32_t i_1 = 0; i_1 < 96; i_1++) {
#             if (((((((tx == i_1 || tx == i_1 + 96) || tx == (i_1 + 192) % 256) || tx == i_1 + 32) || tx == i_1 + 128) || tx == (i_1 + 224) % 256) || tx == i_1 + 64) || tx == i_1 + 160) {
#                 x[i_1] = (int32_t)((uint32_t)k + (uint32_t)x[i_1]);
#             }
#         }
#     }
#     // T.copy(y, Y)  spread_row.py:22
#     tl_fence_proxy();
#     __syncthreads();
#     if (tx == 0) {
#         tl_bulk_store(&y[0], &Y[0LL], 4032);
#         tl_bulk_commit();
#         tl_bulk_wait<0>();
#     }
#     // T.copy(x, Z)  spread_row.py:23
#     #pragma unroll 1
#     for (int32_t i_2 = 0; i_2 < 96; i_2++) {
#         if (((((((tx == i_2 || tx == i_2 + 96) || tx == (i_2 + 192) % 256) || tx == i_2 + 32) || tx == i_2 + 128) || tx == (i_2 + 224) % 256) || tx == i_2 + 64) || tx == i_2 + 160) {
#             if (tx == i_2) Z[i_2] = x[i_2];
#         }
#     }
# }
#
# <<<
