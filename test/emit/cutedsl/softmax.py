# run: --target="cutedsl -arch=sm_80"
import tilelang
import tilelang.language as T


@tilelang.jit
def softmax(M=2, N=128):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float16"), Y: T.Tensor((M, N), "float16")):
        with T.Kernel(M, threads=64) as bx:
            x = T.alloc_fragment((N,), "float32")
            most = T.alloc_fragment((1,), "float32")
            total = T.alloc_fragment((1,), "float32")
            T.copy(X[bx, 0], x)
            T.reduce_max(x, most, dim=0)
            for i in T.Parallel(N):
                x[i] = T.exp(x[i] - most[0])
            T.reduce_sum(x, total, dim=0)
            for i in T.Parallel(N):
                Y[bx, i] = x[i] / total[0]

    return main
# >>> source
#
# @cute.kernel
# def main_kernel(X: cute.Pointer, Y: cute.Pointer):
#     X = tl_global(X, tl_u16, alone=True, constant=True)
#     Y = tl_global(Y, tl_u16, alone=True)
#     tl_shared = tl_dynamic_shared()
#     x = tl_array(tl_f32, 2)
#     most = tl_array(tl_f32, 1)
#     total = tl_array(tl_f32, 1)
#     acc = tl_array(tl_f32, 1)
#     most_parts = tl_as(tl_shared + 0, tl_f32)
#     acc_1 = tl_array(tl_f32, 1)
#     total_parts = tl_as(tl_shared + 0, tl_f32)
#     bx = tl_i32(blockIdx("x"))
#     tx = tl_i32(threadIdx("x"))
#     # T.copy(X[bx, 0], x)  softmax.py:14
#     v = tl_array(tl_u16, 2)
#     tl_as(v, tl_u32)[0] = tl_as(X.at(bx * 128 + tx * 2), tl_u32)[0]
#     x[0] = tl_f16_to_f32(v[0])
#     x[1] = tl_f16_to_f32(v[1])
#     # T.reduce_max(x, most, dim=0)  softmax.py:15
#     acc[0] = -__int_as_float(0x7f800000)
#     for s in cutlass.range(0, 2, 1, unroll_full=True):
#         acc[0] = tl_max_f32(acc[0], x[s])
#     other = tl_f32(__shfl_xor_sync(tl_u32(0xffffffff), acc[0], 1))
#     acc[0] = tl_max_f32(acc[0], other)
#     other_1 = tl_f32(__shfl_xor_sync(tl_u32(0xffffffff), acc[0], 2))
#     acc[0] = tl_max_f32(acc[0], other_1)
#     other_2 = tl_f32(__shfl_xor_sync(tl_u32(0xffffffff), acc[0], 4))
#     acc[0] = tl_max_f32(acc[0], other_2)
#     other_3 = tl_f32(__shfl_xor_sync(tl_u32(0xffffffff), acc[0], 8))
#     acc[0] = tl_max_f32(acc[0], other_3)
#     other_4 = tl_f32(__shfl_xor_sync(tl_u32(0xffffffff), acc[0], 16))
#     acc[0] = tl_max_f32(acc[0], other_4)
#     if tx % 32 == 0:
#         most_parts[tl_div(tx, 32)] = acc[0]
#     __syncthreads()
#     most[0] = tl_max_f32(most_parts[0], most_parts[1])
#     # for i in T.Parallel(N)  softmax.py:16
#     for s_1 in cutlass.range(0, 2, 1, unroll_full=True):
#         x[s_1] = expf(x[s_1] - most[0])
#     # T.reduce_sum(x, total, dim=0)  softmax.py:18
#     acc_1[0] = tl_f32(0.0)
#     for s_2 in cutlass.range(0, 2, 1, unroll_full=True):
#         acc_1[0] = acc_1[0] + x[s_2]
#     other_5 = tl_f32(__shfl_xor_sync(tl_u32(0xffffffff), acc_1[0], 1))
#     acc_1[0] = acc_1[0] + other_5
#     other_6 = tl_f32(__shfl_xor_sync(tl_u32(0xffffffff), acc_1[0], 2))
#     acc_1[0] = acc_1[0] + other_6
#     other_7 = tl_f32(__shfl_xor_sync(tl_u32(0xffffffff), acc_1[0], 4))
#     acc_1[0] = acc_1[0] + other_7
#     other_8 = tl_f32(__shfl_xor_sync(tl_u32(0xffffffff), acc_1[0], 8))
#     acc_1[0] = acc_1[0] + other_8
#     other_9 = tl_f32(__shfl_xor_sync(tl_u32(0xffffffff), acc_1[0], 16))
#     acc_1[0] = acc_1[0] + other_9
#     __syncthreads()
#     if tx % 32 == 0:
#         total_parts[tl_div(tx, 32)] = acc_1[0]
#     __syncthreads()
#     total[0] = total_parts[0] + total_parts[1]
#     v_1 = tl_array(tl_u16, 2)
#     tl_as(v_1, tl_u32)[0] = tl_pack_f16(tl_div(x[0], total[0]), tl_div(x[1], total[0]))
#     tl_as(Y.at(bx * 128 + tx * 2), tl_u32)[0] = tl_as(v_1, tl_u32)[0]
#
#
# @cute.jit
# def tl_launch(tl_x_0: cutlass.Int32, tl_y_0: cutlass.Int32, tl_z_0: cutlass.Int32, X_0: cute.Pointer, Y_0: cute.Pointer):
#     main_kernel(X_0, Y_0).launch(grid=(tl_x_0, tl_y_0, tl_z_0), block=(64, 1, 1), smem=64, min_blocks_per_mp=8)
#
#
# if __name__ == "__main__":
#     tl_build(tl_launch, cutlass.Int32(1), cutlass.Int32(1), cutlass.Int32(1), tl_pointer(tl_u16), tl_pointer(tl_u16))
# <<<
