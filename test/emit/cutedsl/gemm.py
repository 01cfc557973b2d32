# run: --target="cutedsl -arch=sm_90a"
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=256, N=256, K=256):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=128) as (bx, by):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(K // 64, num_stages=2):
                T.copy(A[by * 64, k * 64], a)
                T.copy(B[k * 64, bx * 64], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * 64, bx * 64])

    return main
# >>> source
#
# def tl_wgmma_m64n64k16_f32_f16_f16_tb(c, a, b, add):
#     pass
#     a = tl_u64(a)
#     b = tl_u64(b)
#     add = tl_i32(add)
#     c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], c[12], c[13], c[14], c[15], c[16], c[17], c[18], c[19], c[20], c[21], c[22], c[23], c[24], c[25], c[26], c[27], c[28], c[29], c[30], c[31] = tl_asm("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n" "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 1; }", "+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,+f,l,l,r", [a, b, add, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], c[12], c[13], c[14], c[15], c[16], c[17], c[18], c[19], c[20], c[21], c[22], c[23], c[24], c[25], c[26], c[27], c[28], c[29], c[30], c[31]], stays=True)
#
#
# @cute.kernel
# def main_kernel(A: cute.Pointer, B: cute.Pointer, C: cute.Pointer, A_map: tl_map, B_map: tl_map, C_map: tl_map):
#     A = tl_global(A, tl_u16, alone=True, constant=True)
#     B = tl_global(B, tl_u16, alone=True, constant=True)
#     C = tl_global(C, tl_u16, alone=True)
#     A_map = A_map.place()
#     B_map = B_map.place()
#     C_map = C_map.place()
#     tl_shared = tl_dynamic_shared()
#     a = tl_as(tl_shared + 0, tl_u16)
#     b = tl_as(tl_shared + 16384, tl_u16)
#     c = tl_array(tl_f32, 32)
#     C_out_0 = tl_as(tl_shared + 0, tl_u16)
#     full_1 = tl_as(tl_shared + 32768, tl_u64)
#     empty_1 = tl_as(tl_shared + 32832, tl_u64)
#     phase_1 = tl_var(tl_i32, 0)
#     stage_1 = tl_var(tl_i32, 0)
#     st_reg = tl_array(tl_u16, 8)
#     tl_tile = tl_raster_rows(16)
#     bx = tl_i32(tl_tile.x)
#     by = tl_i32(tl_tile.y)
#     tx = tl_i32(threadIdx("x"))
#     tl_warp = tl_i32(tl_warp_same(tl_div(tl_i32(threadIdx("x")), 32)))
#     if threadIdx("x") + threadIdx("y") + threadIdx("z") == 0:
#         tl_prefetch_map(A_map)
#         tl_prefetch_map(B_map)
#         tl_prefetch_map(C_map)
#         tl_mbar_init(full_1, 1)
#         tl_mbar_init(full_1.at(1), 1)
#         tl_mbar_init(empty_1, 4)
#         tl_mbar_init(empty_1.at(1), 4)
#         tl_fence_mbar_init()
#     __syncthreads()
#     if tl_warp >= 4:
#         if tl_true(tl_and(tl_warp == 4, lambda: tl_elect())):
#             stage_1[0] = 0
#             phase_1[0] = 0
#             for k in cutlass.range(0, 4, 1, unroll=1):
#                 stage = tl_i32(stage_1[0])
#                 phase = tl_i32(phase_1[0])
#                 # T.copy(A[by * 64, k * 64], a)  gemm.py:16
#                 tl_mbar_wait(empty_1.at(stage), phase ^ 1)
#                 tl_mbar_arrive_expect(full_1.at(stage), 16384)
#                 tl_tma_load_2d(a.at(stage * 4096), A_map, full_1.at(stage), k * 64, by * 64)
#                 # T.copy(B[k * 64, bx * 64], b)  gemm.py:17
#                 tl_tma_load_2d(b.at(stage * 4096), B_map, full_1.at(stage), bx * 64, k * 64)
#                 stage_1[0] = tl_choose(stage == 1, 0, tl_i32(tl_u32(stage) + tl_u32(1)))
#                 phase_1[0] = tl_choose(stage == 1, phase ^ 1, phase)
#     else:
#         stage_1[0] = 0
#         phase_1[0] = 0
#         for k in cutlass.range(0, 4, 1, unroll=1):
#             stage_2 = tl_i32(stage_1[0])
#             phase_2 = tl_i32(phase_1[0])
#             # T.copy(A[by * 64, k * 64], a)  gemm.py:16
#             tl_mbar_wait(full_1.at(stage_2), phase_2)
#             # T.gemm(a, b, c)  gemm.py:18
#             tl_wgmma_fence()
#             tl_wgmma_m64n64k16_f32_f16_f16_tb(c, tl_matrix(a.at(stage_2 * 4096), 16, 1024, 1), tl_matrix(b.at(stage_2 * 4096), 8192, 1024, 1), tl_not(k == 0))
#             tl_wgmma_m64n64k16_f32_f16_f16_tb(c, tl_matrix(a.at(stage_2 * 4096), 16, 1024, 1, 2), tl_matrix(b.at(stage_2 * 4096), 8192, 1024, 1, 128), 1)
#             tl_wgmma_m64n64k16_f32_f16_f16_tb(c, tl_matrix(a.at(stage_2 * 4096), 16, 1024, 1, 4), tl_matrix(b.at(stage_2 * 4096), 8192, 1024, 1, 256), 1)
#             tl_wgmma_m64n64k16_f32_f16_f16_tb(c, tl_matrix(a.at(stage_2 * 4096), 16, 1024, 1, 6), tl_matrix(b.at(stage_2 * 4096), 8192, 1024, 1, 384), 1)
#             tl_wgmma_commit()
#             tl_wgmma_wait(1)
#             if k >= 1:
#                 __syncwarp()
#                 if tx % 32 == 0:
#                     tl_mbar_arrive(empty_1.at(tl_choose(stage_2 == 0, 1, stage_2 - 1)))
#             stage_1[0] = tl_choose(stage_2 == 1, 0, tl_i32(tl_u32(stage_2) + tl_u32(1)))
#             phase_1[0] = tl_choose(stage_2 == 1, phase_2 ^ 1, phase_2)
#         tl_wgmma_wait(0)
#         tl_settled(32, c)
#         stage_3 = tl_i32(stage_1[0])
#         __syncwarp()
#         if tx % 32 == 0:
#             tl_mbar_arrive(empty_1.at(tl_choose(stage_3 == 0, 1, stage_3 - 1)))
#         # T.copy(c, C[by * 64, bx * 64])  gemm.py:19
#         st_reg[0] = tl_f32_to_f16(c[0])
#         st_reg[1] = tl_f32_to_f16(c[1])
#         st_reg[2] = tl_f32_to_f16(c[2])
#         st_reg[3] = tl_f32_to_f16(c[3])
#         st_reg[4] = tl_f32_to_f16(c[4])
#         st_reg[5] = tl_f32_to_f16(c[5])
#         st_reg[6] = tl_f32_to_f16(c[6])
#         st_reg[7] = tl_f32_to_f16(c[7])
#         tl____sync_thread_partial(15, 128)
#         tl_stmatrix_x4(tl_shared_at(C_out_0, tl_div(tx, 32) * 2048 + tx % 16 * 128 + (tx % 8 ^ tl_div(tx, 16) % 2) * 16), tl_as(st_reg, tl_u32))
#         st_reg[0] = tl_f32_to_f16(c[8])
#         st_reg[1] = tl_f32_to_f16(c[9])
#         st_reg[2] = tl_f32_to_f16(c[10])
#         st_reg[3] = tl_f32_to_f16(c[11])
#         st_reg[4] = tl_f32_to_f16(c[12])
#         st_reg[5] = tl_f32_to_f16(c[13])
#         st_reg[6] = tl_f32_to_f16(c[14])
#         st_reg[7] = tl_f32_to_f16(c[15])
#         tl_stmatrix_x4(tl_shared_at(C_out_0, tl_div(tx, 32) * 2048 + tx % 16 * 128 + (tl_div(tx, 16) % 2 + 2 ^ tx % 8) * 16), tl_as(st_reg, tl_u32))
#         st_reg[0] = tl_f32_to_f16(c[16])
#         st_reg[1] = tl_f32_to_f16(c[17])
#         st_reg[2] = tl_f32_to_f16(c[18])
#         st_reg[3] = tl_f32_to_f16(c[19])
#         st_reg[4] = tl_f32_to_f16(c[20])
#         st_reg[5] = tl_f32_to_f16(c[21])
#         st_reg[6] = tl_f32_to_f16(c[22])
#         st_reg[7] = tl_f32_to_f16(c[23])
#         tl_stmatrix_x4(tl_shared_at(C_out_0, tl_div(tx, 32) * 2048 + tx % 16 * 128 + (tl_div(tx, 16) % 2 + 4 ^ tx % 8) * 16), tl_as(st_reg, tl_u32))
#         st_reg[0] = tl_f32_to_f16(c[24])
#         st_reg[1] = tl_f32_to_f16(c[25])
#         st_reg[2] = tl_f32_to_f16(c[26])
#         st_reg[3] = tl_f32_to_f16(c[27])
#         st_reg[4] = tl_f32_to_f16(c[28])
#         st_reg[5] = tl_f32_to_f16(c[29])
#         st_reg[6] = tl_f32_to_f16(c[30])
#         st_reg[7] = tl_f32_to_f16(c[31])
#         tl_stmatrix_x4(tl_shared_at(C_out_0, tl_div(tx, 32) * 2048 + tx % 16 * 128 + (tl_div(tx, 16) % 2 + 6 ^ tx % 8) * 16), tl_as(st_reg, tl_u32))
#         tl_fence_proxy()
#         tl____sync_thread_partial(15, 128)
#         if tx == 0:
#             tl_tma_store_2d(C_out_0, C_map, bx * 64, by * 64)
#             tl_bulk_commit()
#         tl_bulk_wait(0)
#
#
# @cute.jit
# def tl_launch(tl_x_0: cutlass.Int32, tl_y_0: cutlass.Int32, tl_z_0: cutlass.Int32, A_0: cute.Pointer, B_0: cute.Pointer, C_0: cute.Pointer, A_map_0: tl_map, B_map_0: tl_map, C_map_0: tl_map):
#     main_kernel(A_0, B_0, C_0, A_map_0, B_map_0, C_map_0).launch(grid=(tl_x_0, tl_y_0, tl_z_0), block=(160, 1, 1), smem=32896)
#
#
# if __name__ == "__main__":
#     tl_build(tl_launch, cutlass.Int32(1), cutlass.Int32(1), cutlass.Int32(1), tl_pointer(tl_u16), tl_pointer(tl_u16), tl_pointer(tl_u16), tl_map(), tl_map(), tl_map())
# <<<
