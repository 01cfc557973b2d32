# run: --target=ascend
# Two GEMMs on the cube core, what is between them on the vector core: tiles handed over through global memory with flags
# between the cores, L1 and L0 by queues, an accumulator that the vector core keeps.
import tilelang
import tilelang.language as T


@tilelang.jit
def attention(S=64, D=32):
    @T.prim_func
    def main(Q: T.Tensor((S, D), "float16"), K: T.Tensor((S, D), "float16"), V: T.Tensor((S, D), "float16"), O: T.Tensor((S, D), "float16")):
        with T.Kernel(S // 32, threads=128) as bx:
            q = T.alloc_shared((32, D), "float16")
            k = T.alloc_shared((32, D), "float16")
            v = T.alloc_shared((32, D), "float16")
            s = T.alloc_fragment((32, 32), "float32")
            p = T.alloc_fragment((32, 32), "float16")
            o = T.alloc_fragment((32, D), "float32")
            T.copy(Q[bx * 32, 0], q)
            T.clear(o)
            for n in T.Pipelined(S // 32, num_stages=2):
                T.copy(K[n * 32, 0], k)
                T.copy(V[n * 32, 0], v)
                T.gemm(q, k, s, transpose_B=True, clear_accum=True)
                for i, j in T.Parallel(32, 32):
                    p[i, j] = T.exp(s[i, j])
                T.gemm(p, v, o)
            T.copy(o, O[bx * 32, 0])

    return main
# >>> source
# extern "C" __global__ __aicore__ void main_kernel(GM_ADDR Q_gm, GM_ADDR K_gm, GM_ADDR V_gm, GM_ADDR O_gm, GM_ADDR work_gm, GM_ADDR work_1_gm)
# {
#     KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
#     TPipe tl_pipe;
#     GlobalTensor<half> Q;
#     Q.SetGlobalBuffer((__gm__ half *)Q_gm);
#     GlobalTensor<half> K;
#     K.SetGlobalBuffer((__gm__ half *)K_gm);
#     GlobalTensor<half> V;
#     V.SetGlobalBuffer((__gm__ half *)V_gm);
#     GlobalTensor<half> O;
#     O.SetGlobalBuffer((__gm__ half *)O_gm);
#     GlobalTensor<float> work;
#     work.SetGlobalBuffer((__gm__ float *)work_gm);
#     GlobalTensor<half> work_1;
#     work_1.SetGlobalBuffer((__gm__ half *)work_1_gm);
#     const int32_t tl_block = (int32_t)GetBlockIdx();
#     const int32_t bx = tl_block;
#     if ASCEND_IS_AIC {
#         TBuf<TPosition::A1> tl_L1;
#         tl_pipe.InitBuffer(tl_L1, 2048);
#         const LocalTensor<half> q = tl_L1.GetWithOffset<half>(1024, 0);
#         TQue<TPosition::A1, 2> k_queue;
#         tl_pipe.InitBuffer(k_queue, 2, 2048);
#         LocalTensor<half> k;
#         TQue<TPosition::A1, 2> v_queue;
#         tl_pipe.InitBuffer(v_queue, 2, 2048);
#         LocalTensor<half> v;
#         TQue<TPosition::A1, 2> tl_l1_1_queue;
#         tl_pipe.InitBuffer(tl_l1_1_queue, 2, 2048);
#         LocalTensor<half> tl_l1_1;
#         TBuf<TPosition::CO1> tl_L0C;
#         tl_pipe.InitBuffer(tl_L0C, 8192);
#         const LocalTensor<float> o = tl_L0C.GetWithOffset<float>(1024, 0);
#         const LocalTensor<float> tl_c10 = tl_L0C.GetWithOffset<float>(1024, 4096);
#         TQue<TPosition::A2, 2> tl_l0a;
#         tl_pipe.InitBuffer(tl_l0a, 2, 32768);
#         TQue<TPosition::B2, 2> tl_l0b;
#         tl_pipe.InitBuffer(tl_l0b, 2, 32768);
#         bool o_zero = false;
#         bool tl_c10_zero = false;
#         CrossCoreSetFlag<2, PIPE_MTE2>(1);
#         // T.copy(Q[bx * 32, 0], q)  attention.py:19
#         tl_load_tile<half>(q, Q[(int64_t)(bx * 32) * 32], 32, 32, 32LL, 32, 32);
#         // T.clear(o)  attention.py:20
#         o_zero = true;
#         for (int32_t n = 0, n_end = 2; n < n_end; n++) {
#             // T.copy(K[n * 32, 0], k)  attention.py:22
#             k = k_queue.AllocTensor<half>();
#             tl_load_tile<half>(k, K[(int64_t)(n * 32) * 32], 32, 32, 32LL, 32, 32);
#             k_queue.EnQue(k);
#             k = k_queue.DeQue<half>();
#             // T.copy(V[n * 32, 0], v)  attention.py:23
#             v = v_queue.AllocTensor<half>();
#             tl_load_tile<half>(v, V[(int64_t)(n * 32) * 32], 32, 32, 32LL, 32, 32);
#             v_queue.EnQue(v);
#             v = v_queue.DeQue<half>();
#             // T.gemm(q, k, s, transpose_B=True, clear_accum=True)  attention.py:24
#             tl_c10_zero = true;
#             {
#                 LocalTensor<half> tl_a = tl_l0a.AllocTensor<half>();
#                 tl_sync<HardEvent::MTE2_MTE1>();
#                 tl_load_a<half, false>(tl_a, q, 32, 32, 0, 32);
#                 tl_l0a.EnQue(tl_a);
#                 LocalTensor<half> tl_b = tl_l0b.AllocTensor<half>();
#                 tl_load_b<half, true>(tl_b, k, 32, 32, 0, 32);
#                 tl_l0b.EnQue(tl_b);
#                 tl_a = tl_l0a.DeQue<half>();
#                 tl_b = tl_l0b.DeQue<half>();
#                 tl_sync<HardEvent::FIX_M>();
#                 tl_mmad(tl_c10, tl_a, tl_b, 32, 32, 32, tl_c10_zero);
#                 tl_c10_zero = false;
#                 tl_l0a.FreeTensor(tl_a);
#                 tl_l0b.FreeTensor(tl_b);
#             }
#             k_queue.FreeTensor(k);
#             CrossCoreWaitFlag(0);
#             tl_sync<HardEvent::M_FIX>();
#             tl_store_tile<float, float>(work[(int64_t)tl_block * 1024], tl_c10, 32, 32, 32, 32, NoQuant);
#             CrossCoreSetFlag<2, PIPE_FIX>(0);
#             // for i, j in T.Parallel(32, 32)  attention.py:25
#             // T.gemm(p, v, o)  attention.py:27
#             CrossCoreWaitFlag(1);
#             tl_l1_1 = tl_l1_1_queue.AllocTensor<half>();
#             tl_load_tile<half>(tl_l1_1, work_1[(int64_t)tl_block * 1024], 32, 32, 32, 32, 32);
#             tl_l1_1_queue.EnQue(tl_l1_1);
#             tl_l1_1 = tl_l1_1_queue.DeQue<half>();
#             CrossCoreSetFlag<2, PIPE_MTE2>(1);
#             {
#                 LocalTensor<half> tl_a = tl_l0a.AllocTensor<half>();
#                 tl_load_a<half, false>(tl_a, tl_l1_1, 32, 32, 0, 32);
#                 tl_l0a.EnQue(tl_a);
#                 LocalTensor<half> tl_b = tl_l0b.AllocTensor<half>();
#                 tl_load_b<half, false>(tl_b, v, 32, 32, 0, 32);
#                 tl_l0b.EnQue(tl_b);
#                 tl_a = tl_l0a.DeQue<half>();
#                 tl_b = tl_l0b.DeQue<half>();
#                 PipeBarrier<PIPE_M>();
#                 tl_mmad(o, tl_a, tl_b, 32, 32, 32, o_zero);
#                 o_zero = false;
#                 tl_l0a.FreeTensor(tl_a);
#                 tl_l0b.FreeTensor(tl_b);
#             }
#             tl_l1_1_queue.FreeTensor(tl_l1_1);
#             v_queue.FreeTensor(v);
#         }
#         // T.copy(o, O[bx * 32, 0])  attention.py:28
#         if (o_zero) {
#             PipeBarrier<PIPE_M>();
#             tl_zero_tile(o, tl_l0a, tl_l0b, 32, 32);
#         }
#         tl_sync<HardEvent::M_FIX>();
#         tl_store_tile<half, float>(O[(int64_t)(bx * 32) * 32], o, 32, 32, 32, 32LL, F322F16);
#         CrossCoreWaitFlag(0);
#     }
#     if ASCEND_IS_AIV {
#         TBuf<TPosition::VECCALC> tl_UB;
#         tl_pipe.InitBuffer(tl_UB, 10240);
#         const LocalTensor<float> s = tl_UB.GetWithOffset<float>(1024, 0);
#         const LocalTensor<half> p = tl_UB.GetWithOffset<half>(1024, 4096);
#         const LocalTensor<float> tl_t11f = tl_UB.GetWithOffset<float>(1024, 6144);
#         CrossCoreSetFlag<2, PIPE_MTE2>(0);
#         // T.copy(Q[bx * 32, 0], q)  attention.py:19
#         // T.clear(o)  attention.py:20
#         for (int32_t n = 0, n_end = 2; n < n_end; n++) {
#             // T.copy(K[n * 32, 0], k)  attention.py:22
#             // T.copy(V[n * 32, 0], v)  attention.py:23
#             // T.gemm(q, k, s, transpose_B=True, clear_accum=True)  attention.py:24
#             CrossCoreWaitFlag(0);
#             tl_sync<HardEvent::V_MTE2>();
#             DataCopyPad(tl_t11f, work[(int64_t)tl_block * 1024][0], DataCopyExtParams{1, 4096, 0, 0, 0}, DataCopyPadExtParams<float>{false, 0, 0, 0});
#             tl_sync<HardEvent::MTE2_V>();
#             DataCopy(s[0], tl_t11f, 1024);
#             CrossCoreSetFlag<2, PIPE_MTE2>(0);
#             // for i, j in T.Parallel(32, 32)  attention.py:25
#             PipeBarrier<PIPE_V>();
#             Exp(tl_t11f, s, 1024);
#             tl_sync<HardEvent::MTE3_V>();
#             PipeBarrier<PIPE_V>();
#             Cast(p, tl_t11f, RoundMode::CAST_RINT, 1024);
#             // T.gemm(p, v, o)  attention.py:27
#             CrossCoreWaitFlag(1);
#             tl_sync<HardEvent::V_MTE3>();
#             DataCopyPad(work_1[(int64_t)tl_block * 1024], p, DataCopyExtParams{1, 2048, 0, 0, 0});
#             CrossCoreSetFlag<2, PIPE_MTE3>(1);
#         }
#         // T.copy(o, O[bx * 32, 0])  attention.py:28
#         CrossCoreWaitFlag(1);
#     }
# }
#
# <<<
