# run: --target="cuda -arch=sm_90a"
import tilelang
import tilelang.language as T


# The indices of a round are all in flight before its copies, and each row that is there is one branch.
@T.prim_func
def rows(K: T.Tensor((512, 64), "bfloat16"), At: T.Tensor((256,), "int32"), O: T.Tensor((256, 64), "bfloat16")):
    with T.Kernel(4, threads=128) as b:
        s = T.alloc_shared((64, 64), "bfloat16")
        there = T.alloc_shared((64,), "bool")
        row = T.alloc_var("int32")
        tx = T.get_thread_binding()
        for r in T.serial(4):
            row = At[b * 64 + r * 16 + tx // 8]
            there[r * 16 + tx // 8] = row >= 0
            if there[r * 16 + tx // 8]:
                for u in T.serial(1):
                    T.ptx_cp_async(T.access_ptr(s[r * 16 + tx // 8, tx % 8 * 8], "w", 8), T.access_ptr(K[row, tx % 8 * 8], "r", 8), 8)
        T.ptx_commit_group()
        T.ptx_wait_group(0)
        T.sync_threads()
        for i, j in T.Parallel(64, 64):
            O[b * 64 + i, j] = T.if_then_else(there[i], s[i, j], T.bfloat16(0))
# >>> source
# extern "C" __global__ void __launch_bounds__(128, 4) rows_kernel(
#     const uint16_t *__restrict__ K,
#     const int32_t *__restrict__ At,
#     uint16_t *__restrict__ O)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     uint16_t *const s = (uint16_t *)(tl_shared + 0);
#     uint8_t *const there = (uint8_t *)(tl_shared + 8192);
#     const int32_t b = blockIdx.x;
#     const int32_t tx = threadIdx.x;
#
#     #pragma unroll
#     for (int32_t r = 0; r < 4; r++) {
#         const int32_t row = At[b * 64 + tx / 8 + r * 16];
#         __syncthreads();
#         there[tx / 8 + r * 16] = row >= 0;
#         __syncthreads();
#         if (there[tx / 8 + r * 16]) {
#             tl_cp_async_or_zero<16>(tl_shared_at(s, tx * 16 + r * 2048), &K[(int32_t)((uint32_t)(int32_t)((uint32_t)(tx % 8) * 8u) + (uint32_t)(int32_t)((uint32_t)row * 64u))], row >= 0 && row < 512);
#         }
#     }
#     tl_cp_async_commit();
#     tl_cp_async_wait<0>();
#     __syncthreads();
#     // for i, j in T.Parallel(64, 64)  gather_rows.py:23
#     #pragma unroll
#     for (int32_t s_1 = 0; s_1 < 4; s_1++) {
#         *(uint4 *)&O[b * 4096 + tx * 8 + s_1 * 1024] = there[tx / 8 + s_1 * 16] ? *(const uint4 *)&s[tx * 8 + s_1 * 1024] : uint4{};
#     }
# }
#
# <<<
