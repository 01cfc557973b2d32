"""Attention forward written for tensor memory, in the style of FlashAttention-4 (`cuda -arch=sm_100a`).

    tl verify examples/blackwell/flash_attention.py S=256 H=1 --sim --target "cuda -arch=sm_100a"

A block has two tiles of 128 rows of Q.  Each has a warpgroup for its softmax, so that one multiplies while the other takes
exponentials; a third warpgroup rescales both outputs in tensor memory when a row's maximum has grown, and stores them; one warp
issues the MMAs, one the loads.  A part of the exponentials is computed by a polynomial, where the special function units are the limit.
Q, K, V are (batch, heads, sequence, dim), 16-bit.  Never run on such a GPU.
"""
import tilelang
import tilelang.language as T

ROWS = 128  # of a tile of Q: the lanes of tensor memory


def exp2_by_polynomial(x):
    """2**x for x <= 0: a cubic for the fraction, whole powers of two by the exponent's bits."""
    x = T.max(x, -126.0)
    whole = T.floor(x)
    f = x - whole
    p = ((0.07706 * f + 0.22764) * f + 0.69521) * f + 1.0
    return T.reinterpret(T.reinterpret(p, "int32") + T.cast(whole, "int32") * 8388608, "float32")


@tilelang.jit(out_idx=[-1])
def flash_attention(B=1, H=2, S=512, D=64, block_N=128, num_stages=2, polynomial=4, dtype="bfloat16"):
    scale = (1.0 / D) ** 0.5 * 1.44269504  # log2(e)
    steps = S // block_N
    part = 32  # columns that go from registers to tensor memory at a time
    cut = block_N // polynomial if polynomial else 0  # so many of the columns by the polynomial

    @T.macro
    def softmax(w, S_t, P_t, factor, s_full, p_free, p_full, factor_free, factor_full):
        scores = T.alloc_fragment((ROWS, block_N), "float32")
        probs = T.alloc_fragment((ROWS, part), dtype)
        row_max = T.alloc_fragment((ROWS,), "float32")
        before = T.alloc_fragment((ROWS,), "float32")
        rescale = T.alloc_fragment((ROWS,), "float32")
        row_sum = T.alloc_fragment((ROWS,), "float32")
        sums = T.alloc_fragment((ROWS,), "float32")
        T.fill(row_max, -T.infinity("float32"))
        T.fill(sums, 0)
        for k in T.serial(steps):
            T.mbarrier_wait_parity(s_full[w], k & 1)
            T.copy(S_t, scores)
            T.copy(row_max, before)
            T.reduce_max(scores, row_max, dim=1, clear=False)
            for i in T.Parallel(ROWS):
                rescale[i] = T.exp2(before[i] * scale - row_max[i] * scale)
            T.mbarrier_wait_parity(factor_free[w], (k & 1) ^ 1)
            T.copy(rescale, factor[w, :])
            T.mbarrier_arrive(factor_full[w])
            for i, j in T.Parallel(ROWS, block_N):
                scores[i, j] = scores[i, j] * scale - row_max[i] * scale
            if cut:
                for i, j in T.Parallel(ROWS, cut):
                    scores[i, j] = exp2_by_polynomial(scores[i, j])
            for i, j in T.Parallel(ROWS, block_N - cut):
                scores[i, j + cut] = T.exp2(scores[i, j + cut])
            T.reduce_sum(scores, row_sum, dim=1)
            for i in T.Parallel(ROWS):
                sums[i] = sums[i] * rescale[i] + row_sum[i]
            T.mbarrier_wait_parity(p_free[w], (k & 1) ^ 1)
            for c in T.unroll(block_N // part):
                for i, j in T.Parallel(ROWS, part):
                    probs[i, j] = scores[i, c * part + j]
                T.copy(probs, P_t[:, c * part : (c + 1) * part])
            T.mbarrier_arrive(p_full[w])
        T.mbarrier_wait_parity(factor_free[w], (steps & 1) ^ 1)
        for i in T.Parallel(ROWS):
            sums[i] = 1 / sums[i]
        T.copy(sums, factor[w, :])
        T.mbarrier_arrive(factor_full[w])

    @T.prim_func
    def main(
        Q: T.Tensor((B, H, S, D), dtype),
        K: T.Tensor((B, H, S, D), dtype),
        V: T.Tensor((B, H, S, D), dtype),
        O: T.Tensor((B, H, S, D), dtype),
    ):
        with T.Kernel(S // (2 * ROWS), H, B, threads=512) as (bx, by, bz):
            Q_s = T.alloc_shared((2, ROWS, D), dtype)
            K_s = T.alloc_shared((num_stages, block_N, D), dtype)
            V_s = T.alloc_shared((num_stages, block_N, D), dtype)
            O_s = T.alloc_shared((ROWS, D), dtype)
            factor = T.alloc_shared((2, ROWS), "float32")  # of each row: what its output is multiplied by
            S0 = T.alloc_tmem([ROWS, block_N], "float32")
            S1 = T.alloc_tmem([ROWS, block_N], "float32")
            P0 = T.alloc_tmem([ROWS, block_N], dtype)
            P1 = T.alloc_tmem([ROWS, block_N], dtype)
            O_t = T.alloc_tmem([2, ROWS, D], "float32")
            acc = T.alloc_fragment((ROWS, part), "float32")
            q_full = T.alloc_barrier([32])
            k_full = T.alloc_barrier([32] * num_stages)
            v_full = T.alloc_barrier([32] * num_stages)
            k_free = T.alloc_barrier([1] * num_stages)
            v_free = T.alloc_barrier([1] * num_stages)
            s_full = T.alloc_barrier([1] * 2)      # scores are there
            p_full = T.alloc_barrier([128] * 2)    # probabilities are there, and scores were read
            p_free = T.alloc_barrier([1] * 2)      # the product with them is done
            factor_full = T.alloc_barrier([128] * 2)
            factor_free = T.alloc_barrier([128] * 2)
            o_ready = T.alloc_barrier([128] * 2)   # the output was rescaled
            tx = T.get_thread_binding()

            if tx < 128:
                T.set_max_nreg(192, 1)
                softmax(0, S0, P0, factor, s_full, p_free, p_full, factor_free, factor_full)
            elif tx < 256:
                T.set_max_nreg(192, 1)
                softmax(1, S1, P1, factor, s_full, p_free, p_full, factor_free, factor_full)
            elif tx < 384:  # correction
                T.set_max_nreg(80, 0)
                for k in T.serial(steps):
                    for w in T.unroll(2):
                        T.mbarrier_wait_parity(factor_full[w], k & 1)
                        if k > 0:
                            T.mbarrier_wait_parity(p_free[w], (k - 1) & 1)
                            for c in T.unroll(D // part):
                                T.copy(O_t[w, :, c * part : (c + 1) * part], acc)
                                for i, j in T.Parallel(ROWS, part):
                                    acc[i, j] = acc[i, j] * factor[w, i]
                                T.copy(acc, O_t[w, :, c * part : (c + 1) * part])
                        T.mbarrier_arrive(factor_free[w])
                        T.mbarrier_arrive(o_ready[w])
                for w in T.unroll(2):
                    T.mbarrier_wait_parity(factor_full[w], steps & 1)
                    T.mbarrier_wait_parity(p_free[w], (steps - 1) & 1)
                    for c in T.unroll(D // part):
                        T.copy(O_t[w, :, c * part : (c + 1) * part], acc)
                        for i, j in T.Parallel(ROWS, part):
                            acc[i, j] = acc[i, j] * factor[w, i]
                        T.copy(acc, O_s[:, c * part : (c + 1) * part])
                    T.copy(O_s, O[bz, by, (bx * 2 + w) * ROWS : (bx * 2 + w + 1) * ROWS, :])
            elif tx < 416:  # MMAs: the scores of the next step before the product of this one
                T.set_max_nreg(48, 0)
                T.mbarrier_wait_parity(q_full, 0)
                T.mbarrier_wait_parity(k_full[0], 0)
                T.tcgen05_gemm(Q_s[0, :, :], K_s[0, :, :], S0, transpose_B=True, mbar=s_full[0], clear_accum=True)
                T.tcgen05_gemm(Q_s[1, :, :], K_s[0, :, :], S1, transpose_B=True, mbar=s_full[1], clear_accum=True)
                T.tcgen05_mma_arrive(k_free[0])
                for k in T.serial(steps):
                    at, then = k % num_stages, (k + 1) % num_stages
                    T.mbarrier_wait_parity(v_full[at], (k // num_stages) & 1)
                    if k + 1 < steps:
                        T.mbarrier_wait_parity(k_full[then], ((k + 1) // num_stages) & 1)
                    T.mbarrier_wait_parity(p_full[0], k & 1)
                    if k + 1 < steps:
                        T.tcgen05_gemm(Q_s[0, :, :], K_s[then, :, :], S0, transpose_B=True, mbar=s_full[0], clear_accum=True)
                    T.mbarrier_wait_parity(o_ready[0], k & 1)
                    T.tcgen05_gemm(P0, V_s[at, :, :], O_t[0, :, :], mbar=p_free[0], clear_accum=k == 0)
                    T.mbarrier_wait_parity(p_full[1], k & 1)
                    if k + 1 < steps:
                        T.tcgen05_gemm(Q_s[1, :, :], K_s[then, :, :], S1, transpose_B=True, mbar=s_full[1], clear_accum=True)
                        T.tcgen05_mma_arrive(k_free[then])
                    T.mbarrier_wait_parity(o_ready[1], k & 1)
                    T.tcgen05_gemm(P1, V_s[at, :, :], O_t[1, :, :], mbar=p_free[1], clear_accum=k == 0)
                    T.tcgen05_mma_arrive(v_free[at])
            elif tx < 448:  # loads
                T.set_max_nreg(48, 0)
                for w in T.unroll(2):
                    T.tma_copy(Q[bz, by, (bx * 2 + w) * ROWS : (bx * 2 + w + 1) * ROWS, :], Q_s[w, :, :], barrier=q_full)
                T.mbarrier_arrive(q_full)
                for k in T.serial(steps):
                    at = k % num_stages
                    T.mbarrier_wait_parity(k_free[at], ((k // num_stages) & 1) ^ 1)
                    T.tma_copy(K[bz, by, k * block_N : (k + 1) * block_N, :], K_s[at, :, :], barrier=k_full[at])
                    T.mbarrier_arrive(k_full[at])
                    T.mbarrier_wait_parity(v_free[at], ((k // num_stages) & 1) ^ 1)
                    T.tma_copy(V[bz, by, k * block_N : (k + 1) * block_N, :], V_s[at, :, :], barrier=v_full[at])
                    T.mbarrier_arrive(v_full[at])
            else:  # the rest of its warpgroup gives its registers away too
                T.set_max_nreg(48, 0)

    return main


# ---- python3 examples/blackwell/flash_attention.py -----------------------------------------------

def verify(B=1, H=1, S=256, D=64):
    import numpy as np
    from tilelang.script import check, normal

    Q, K, V = (normal(B, H, S, D, dtype="float16") for _ in range(3))
    scores = Q.astype("float64") @ K.swapaxes(2, 3).astype("float64") / D**0.5
    p = np.exp(scores - scores.max(-1, keepdims=True))
    want = p / p.sum(-1, keepdims=True) @ V
    return check(flash_attention(B, H, S, D, dtype="float16"), [Q, K, V], want)


def bench(B=1, H=16, S=4096, D=64):
    from tilelang.script import normal, timed

    Q, K, V = (normal(B, H, S, D, dtype="float16") for _ in range(3))
    timed(flash_attention(B, H, S, D, dtype="float16"), [Q, K, V], 4 * B * H * S * S * D)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
