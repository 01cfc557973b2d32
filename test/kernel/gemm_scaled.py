# Products of blocks with scales: words of four scales, in tensor memory or in shared memory.
# verify: :tiles
# verify: :tiles M=64 N=64 K=256 bk=128
# verify: :tiles M=48 N=16 K=256 bk=128 grain=64 dtype=float8_e5m2 other=float4_e2m1fn
# verify: :tiles M=64 N=32 K=128 bk=64 dtype=float4_e2m1fn threads=128 layout=blockscaled_chunk_kmajor
# verify: :tiles layout=blockscaled_chunk_kmajor grain=16 dtype=float4_e2m1fn M=32 N=32 K=128 bk=64
# verify: :lanes N=32 K=64 bk=32 --sm_80=unsupported-here --sm_90a=unsupported-here --sm_120a=unsupported-here --template=unsupported-here --hip=unsupported-here
# verify: :lanes N=32 K=64 bk=32 sync=True --sm_80=unsupported-here --sm_90a=unsupported-here --sm_120a=unsupported-here --template=unsupported-here --hip=unsupported-here
# verify: :lanes N=32 K=32 bk=32 grain=128 --sm_80=unsupported-here --sm_90a=unsupported-here --sm_120a=unsupported-here --template=unsupported-here --hip=unsupported-here
# verify: :lanes dtype=float4_e2m1fn N=32 K=64 bk=64 grain=16 --sm_80=unsupported-here --sm_90a=unsupported-here --sm_120a=unsupported-here --template=unsupported-here --hip=unsupported-here
import tilelang
import tilelang.language as T


# Scales of the whole k in one group of words for each row, as tensor memory wants them.
@tilelang.jit
def lanes(M=128, N=128, K=128, bk=128, grain=32, dtype="float8_e4m3fn", other="", trans_B=True, sync=False):
    per = 4 * grain  # elements of a word
    words = T.ceildiv(bk, per)

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((N, K) if trans_B else (K, N), other or dtype),
        SFA: T.Tensor((T.ceildiv(K, per), M), "uint32"),
        SFB: T.Tensor((T.ceildiv(K, per), N), "uint32"),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, bk), dtype)
            b = T.alloc_shared((N, bk) if trans_B else (bk, N), other or dtype)
            sa = T.alloc_shared((words * M,), "uint32")
            sb = T.alloc_shared((T.ceildiv(words * N, 128) * 128,), "uint32")
            c = T.alloc_tmem([M, N], "float32")
            ta = T.alloc_tmem([128, words * M // 32], "uint32")
            tb = T.alloc_tmem([128, T.ceildiv(words * N, 128) * 4], "uint32")
            out = T.alloc_fragment((M, N), "float32")
            done = T.alloc_barrier(1)
            T.annotate_layout({c: T.make_blockscaled_gemm_layout(c, a)})
            for k in T.serial(K // bk):
                T.copy(A[0, k * bk], a)
                if trans_B:
                    T.copy(B[0, k * bk], b)
                else:
                    T.copy(B[k * bk, 0], b)
                for w, i in T.Parallel(words, M):
                    sa[w * M + i] = (SFA[(k * bk) // per + w, i] & 0x03030303) + (0x38383838 if grain == 16 else 0x7E7E7E7E)
                for w, i in T.Parallel(words, N if words * N % 128 == 0 else 128):
                    sb[w * N + i] = (SFB[(k * bk) // per + w, i % N] & 0x03030303) + (0x38383838 if grain == 16 else 0x7E7E7E7E)
                T.tcgen05_sf_warp_transpose(sa)
                T.tcgen05_sf_warp_transpose(sb)
                T.fence_proxy_async()
                T.sync_threads()
                T.tcgen05_cp_warpx4(sa, ta)
                T.tcgen05_cp_warpx4(sb, tb)
                if sync:
                    T.gemm_blockscaled(
                        a, b, c, ta, tb[:, 0 : words * N // 32], transpose_B=trans_B, clear_accum=k == 0,
                        k_start=k * bk, sf_a_granularity_k=grain, sf_b_granularity_k=grain,
                    )
                else:
                    T.tcgen05_gemm_blockscaled(
                        a, b, c, ta, tb[:, 0 : words * N // 32], transpose_B=trans_B, mbar=done, clear_accum=k == 0,
                        k_start=k * bk, sf_a_granularity_k=grain, sf_b_granularity_k=grain,
                    )
                    T.mbarrier_wait_parity(done, k % 2)
            T.copy(c, out)
            T.copy(out, C)

    return main


# Words of scales in shared memory, by rows or in chunks of 32 rows.
@tilelang.jit
def tiles(M=32, N=16, K=64, bk=32, grain=32, dtype="float8_e4m3fn", other="", layout="rowmajor", stages=2, threads=64):
    per = 4 * grain
    words = T.ceildiv(bk, per)
    one = 0x38383838 if grain == 16 else 0x7E7E7E7E

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((N, K), other or dtype),
        SFA: T.Tensor((T.ceildiv(K, per), M, words), "uint32"),
        SFB: T.Tensor((T.ceildiv(K, per), N, words), "uint32"),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(1, threads=threads) as bx:
            a = T.alloc_shared((M, bk), dtype)
            b = T.alloc_shared((N, bk), other or dtype)
            sa = T.alloc_shared((M, words), "uint32")
            sb = T.alloc_shared((N, words), "uint32")
            c = T.alloc_fragment((M, N), "float32")
            T.clear(c)
            for k in T.Pipelined(K // bk, num_stages=stages):
                T.copy(A[0, k * bk], a)
                T.copy(B[0, k * bk], b)
                for i, w in T.Parallel(M, words):
                    sa[i, w] = (SFA[k * bk // per, i, w] & 0x03030303) + one
                for i, w in T.Parallel(N, words):
                    sb[i, w] = (SFB[k * bk // per, i, w] & 0x03030303) + one
                T.gemm_blockscaled(
                    a, b, c, sa, sb, transpose_B=True, k_start=k * bk,
                    sf_a_granularity_k=grain, sf_b_granularity_k=grain, sf_layout=layout,
                )
            T.copy(c, C)

    return main
