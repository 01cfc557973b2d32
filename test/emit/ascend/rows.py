# run: --target=ascend
# Rows by one transfer, a reduction and vector instructions with a scalar of each row, flags between the pipes.
import tilelang
import tilelang.language as T


@tilelang.jit
def rows(M=24, N=64):
    @T.prim_func
    def main(X: T.Tensor((M, 2 * N), "float16"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(M, 8), threads=64) as bx:
            x = T.alloc_fragment((8, N), "float16")
            y = T.alloc_fragment((8, N), "float32")
            most = T.alloc_fragment((8,), "float32")
            T.copy(X[bx * 8, 0], x)
            for i, j in T.Parallel(8, N):
                y[i, j] = T.if_then_else(j > i, x[i, j].astype("float32"), -1.0)
            T.reduce_max(y, most, dim=1)
            for i, j in T.Parallel(8, N):
                y[i, j] = T.exp(y[i, j] - most[i])
            T.copy(y, Y[bx * 8, 0])

    return main
# >>> source
# extern "C" __global__ __aicore__ void main_kernel(GM_ADDR X_gm, GM_ADDR Y_gm)
# {
#     KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
#     TPipe tl_pipe;
#     GlobalTensor<half> X;
#     X.SetGlobalBuffer((__gm__ half *)X_gm);
#     GlobalTensor<float> Y;
#     Y.SetGlobalBuffer((__gm__ float *)Y_gm);
#     float acc = 0;
#     const int32_t tl_block = (int32_t)GetBlockIdx();
#     const int32_t bx = tl_block;
#     TBuf<TPosition::VECCALC> tl_UB;
#     tl_pipe.InitBuffer(tl_UB, 4128);
#     const LocalTensor<half> x = tl_UB.GetWithOffset<half>(512, 0);
#     const LocalTensor<float> y = tl_UB.GetWithOffset<float>(512, 1024);
#     const LocalTensor<float> most = tl_UB.GetWithOffset<float>(8, 3072);
#     const LocalTensor<float> tl_t5f = tl_UB.GetWithOffset<float>(64, 3104);
#     const LocalTensor<float> tl_t6f = tl_UB.GetWithOffset<float>(64, 3360);
#     const LocalTensor<int32_t> tl_t6i = tl_UB.GetWithOffset<int32_t>(64, 3360);
#     const LocalTensor<uint8_t> tl_t6m = tl_UB.GetWithOffset<uint8_t>(256, 3360);
#     const LocalTensor<float> tl_t7f = tl_UB.GetWithOffset<float>(64, 3616);
#     const LocalTensor<float> tl_t8f = tl_UB.GetWithOffset<float>(64, 3872);
#     // T.copy(X[bx * 8, 0], x)  rows.py:15
#     DataCopyPad(x, X[bx * 1024], DataCopyExtParams{(uint16_t)(8), (uint32_t)(64) * 2, 256u - (uint32_t)(64) * 2, 4u - ((uint32_t)(64) * 2 + 31) / 32, 0}, DataCopyPadExtParams<half>{false, 0, 0, 0.0f});
#     // for i, j in T.Parallel(8, N)  rows.py:16
#     for (int32_t i = 0, i_end = 8; i < i_end; i++) {
#         PipeBarrier<PIPE_V>();
#         Duplicate(tl_t5f, (float)(i), 64);
#         CreateVecIndex(tl_t6i, (int32_t)(0), 64);
#         PipeBarrier<PIPE_V>();
#         Cast(tl_t7f, tl_t6i, RoundMode::CAST_NONE, 64);
#         PipeBarrier<PIPE_V>();
#         Compare(tl_t6m, tl_t5f, tl_t7f, CMPMODE::LT, 64);
#         tl_sync<HardEvent::MTE2_V>();
#         PipeBarrier<PIPE_V>();
#         Cast(tl_t5f, x[i * 64], RoundMode::CAST_NONE, 64);
#         Duplicate(tl_t7f, (float)((-1.0f)), 64);
#         PipeBarrier<PIPE_V>();
#         Select(y[i * 64], tl_t6m, tl_t5f, tl_t7f, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);
#     }
#     // T.reduce_max(y, most, dim=1)  rows.py:18
#     for (int32_t i_1 = 0, i_1_end = 8; i_1 < i_1_end; i_1++) {
#         // T.reduce_max(y, most, dim=1)  rows.py:18
#         acc = (-tl_f32_bits(0x7f800000u));
#         tl_sync<HardEvent::S_V>();
#         PipeBarrier<PIPE_V>();
#         ReduceMax(tl_t5f, y[i_1 * 64], tl_t6f, 64);
#         tl_sync<HardEvent::V_S>();
#         acc = tl_max(acc, tl_t5f.GetValue(0));
#         // T.reduce_max(y, most, dim=1)  rows.py:18
#         most.SetValue(i_1, (float)(acc));
#     }
#     // for i, j in T.Parallel(8, N)  rows.py:19
#     for (int32_t i_2 = 0, i_2_end = 8; i_2 < i_2_end; i_2++) {
#         const float most_1 = most.GetValue(i_2);
#         tl_sync<HardEvent::S_V>();
#         PipeBarrier<PIPE_V>();
#         Adds(tl_t5f, y[i_2 * 64], (float)(-(most_1)), 64);
#         PipeBarrier<PIPE_V>();
#         Exp(y[i_2 * 64], tl_t5f, 64);
#     }
#     // T.copy(y, Y[bx * 8, 0])  rows.py:21
#     tl_sync<HardEvent::V_MTE3>();
#     DataCopyPad(Y[bx * 512], y, DataCopyExtParams{1, (uint32_t)(512) * 4, 0, 0, 0});
# }
#
# <<<
