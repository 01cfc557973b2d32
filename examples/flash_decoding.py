"""Flash decoding: one query against a long cache, split over blocks, combined by a second launch."""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def flash_decoding(B=2, H=8, S=1024, D=64, splits=4, block_N=128, dtype="float32"):
    scale = (1.0 / D) ** 0.5 * 1.44269504  # log2(e)
    per_split = T.ceildiv(S, splits)

    @T.prim_func
    def main(
        Q: T.Tensor((B, H, D), dtype),
        K: T.Tensor((B, S, H, D), dtype),
        V: T.Tensor((B, S, H, D), dtype),
        O: T.Tensor((B, H, D), dtype),
    ):
        part = T.alloc_global((B, H, splits, D), "float32")
        part_max = T.alloc_global((B, H, splits), "float32")
        part_sum = T.alloc_global((B, H, splits), "float32")

        with T.Kernel(splits, H, B, threads=128) as (bs, bh, bb):
            q = T.alloc_fragment((D,), "float32")
            k_s = T.alloc_shared((block_N, D), dtype)
            v_s = T.alloc_shared((block_N, D), dtype)
            product = T.alloc_fragment((block_N, D), "float32")
            score = T.alloc_fragment((block_N,), "float32")
            acc = T.alloc_fragment((D,), "float32")
            peak = T.alloc_fragment((1,), "float32")
            peak_before = T.alloc_fragment((1,), "float32")
            total = T.alloc_fragment((1,), "float32")
            row = T.alloc_fragment((1,), "float32")

            T.copy(Q[bb, bh, 0:D], q)
            T.clear(acc)
            T.clear(total)
            T.fill(peak, -1e30)
            for n in T.Pipelined(T.ceildiv(per_split, block_N), num_stages=2):
                start = bs * per_split + n * block_N
                T.copy(K[bb, start : start + block_N, bh, :], k_s)
                T.copy(V[bb, start : start + block_N, bh, :], v_s)
                for i, j in T.Parallel(block_N, D):
                    product[i, j] = k_s[i, j] * q[j]
                T.reduce_sum(product, score, dim=1)
                for i in T.Parallel(block_N):
                    seen = (n * block_N + i < per_split) and (start + i < S)
                    score[i] = T.if_then_else(seen, score[i] * scale, -1e30)
                T.copy(peak, peak_before)
                T.reduce_max(score, peak, dim=0, clear=False)
                for i in T.Parallel(block_N):
                    seen = (n * block_N + i < per_split) and (start + i < S)
                    score[i] = T.if_then_else(seen, T.exp2(score[i] - peak[0]), 0)
                T.reduce_sum(score, row, dim=0)
                for i in T.Parallel(1):
                    total[i] = total[i] * T.exp2(peak_before[i] - peak[i]) + row[i]
                for i, j in T.Parallel(block_N, D):
                    product[i, j] = score[i] * v_s[i, j]
                for j in T.Parallel(D):
                    acc[j] = acc[j] * T.exp2(peak_before[0] - peak[0])
                T.reduce_sum(product, acc, dim=0, clear=False)
            for j in T.Parallel(D):
                part[bb, bh, bs, j] = acc[j]
            part_max[bb, bh, bs] = peak[0]
            part_sum[bb, bh, bs] = total[0]

        with T.Kernel(H, B, threads=128) as (bh, bb):
            out = T.alloc_fragment((D,), "float32")
            peaks = T.alloc_fragment((splits,), "float32")
            top = T.alloc_fragment((1,), "float32")
            weight = T.alloc_var("float32")
            total_all = T.alloc_var("float32")
            T.clear(out)
            T.copy(part_max[bb, bh, 0], peaks)
            T.reduce_max(peaks, top, dim=0)
            total_all = 0.0
            for s in T.serial(splits):
                weight = T.exp2(part_max[bb, bh, s] - top[0])
                total_all += part_sum[bb, bh, s] * weight
                for j in T.Parallel(D):
                    out[j] += part[bb, bh, s, j] * weight
            for j in T.Parallel(D):
                O[bb, bh, j] = out[j] / total_all

    return main


# ---- python3 examples/flash_decoding.py ----------------------------------------------------------

def verify(B=2, H=8, S=1024, D=64):
    import numpy as np
    from tilelang.script import check, normal

    Q, K, V = normal(B, H, D), normal(B, S, H, D), normal(B, S, H, D)
    scores = np.einsum("bhd,bshd->bhs", Q, K) / D**0.5
    p = np.exp(scores - scores.max(-1, keepdims=True))
    want = np.einsum("bhs,bshd->bhd", p / p.sum(-1, keepdims=True), V)
    return check(flash_decoding(B, H, S, D), [Q, K, V], want)


def bench(B=8, H=8, S=4096, D=64):
    from tilelang.script import normal, timed

    Q, K, V = normal(B, H, D), normal(B, S, H, D), normal(B, S, H, D)
    timed(flash_decoding(B, H, S, D), [Q, K, V], 4 * B * H * S * D)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
