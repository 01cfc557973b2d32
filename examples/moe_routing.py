"""What stands around the experts of a mixture: the best k of each token, rows brought together, rows summed.

    tl verify examples/moe_routing.py:gate tokens=20
    tl verify examples/moe_routing.py:unpermute tokens=20

gate: the k largest of a token's logits, and their softmax.  permute: rows in the order of their experts,
start of each expert, and where each row went.  unpermute: for each token the weighted sum of its rows.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[1, 2])
def gate(tokens=128, experts=64, k=4, block=1):
    """A warp of a token to a block; experts are a multiple of 32."""
    lanes, each = 32, experts // 32

    @T.prim_func
    def main(
        logits: T.Tensor((tokens, experts), "float32"),
        weight: T.Tensor((tokens, k), "float32"),
        chosen: T.Tensor((tokens, k), "int32"),
    ):
        with T.Kernel(T.ceildiv(tokens, block), threads=block * lanes) as bx:
            x = T.alloc_fragment((block, lanes, each), "float32")
            place = T.alloc_fragment((block, lanes, each), "int32")
            part = T.alloc_fragment((block, lanes), "float32")
            part_at = T.alloc_fragment((block, lanes), "int32")
            top = T.alloc_fragment((block,), "float32")
            best = T.alloc_fragment((block,), "int32")
            value = T.alloc_fragment((block, k), "float32")
            total = T.alloc_fragment((block,), "float32")
            for i, l, j in T.Parallel(block, lanes, each):
                x[i, l, j] = logits[bx * block + i, l * each + j]
            for r in T.unroll(k):
                T.reduce_max(x, part, dim=2)
                T.reduce_max(part, top, dim=1)
                for i, l, j in T.Parallel(block, lanes, each):  # of equals the first
                    place[i, l, j] = T.if_then_else(x[i, l, j] == top[i], l * each + j, experts)
                T.reduce_min(place, part_at, dim=2)
                T.reduce_min(part_at, best, dim=1)
                for i, l, j in T.Parallel(block, lanes, each):
                    x[i, l, j] = T.if_then_else(l * each + j == best[i], -T.infinity("float32"), x[i, l, j])
                for i in T.Parallel(block):
                    value[i, r] = top[i]
                    if bx * block + i < tokens:
                        chosen[bx * block + i, r] = best[i]
            T.reduce_max(value, top, dim=1)
            for i, r in T.Parallel(block, k):
                value[i, r] = T.exp(value[i, r] - top[i])
            T.reduce_sum(value, total, dim=1)
            for i, r in T.Parallel(block, k):
                value[i, r] = value[i, r] / total[i]
            T.copy(value, weight[bx * block, 0])

    return main


@tilelang.jit(out_idx=[2, 3, 4])
def permute(tokens=128, experts=64, k=4, width=256, dtype="float16", block=512, threads=256):
    """Rows of an expert stand in the order of their tokens; a choice that is no expert is left out."""
    n = tokens * k
    blocks = T.ceildiv(n, block)

    @T.prim_func
    def main(
        X: T.Tensor((tokens, width), dtype),
        chosen: T.Tensor((n,), "int32"),
        Y: T.Tensor((n, width), dtype),
        start: T.Tensor((experts + 1,), "int32"),
        place: T.Tensor((n,), "int32"),
    ):
        count = T.alloc_global((experts, blocks), "int32")

        with T.Kernel(blocks, threads=threads) as bx:  # of each expert in each block
            here = T.alloc_shared((experts,), "int32")
            T.clear(here)
            for i in T.Parallel(block):
                if bx * block + i < n and chosen[bx * block + i] >= 0 and chosen[bx * block + i] < experts:
                    T.atomic_add(here[chosen[bx * block + i]], 1)
            for e in T.Parallel(experts):
                count[e, bx] = here[e]

        with T.Kernel(1, threads=1024) as _:  # of all before it
            all_s = T.alloc_shared((experts, blocks), "int32")
            ends = T.alloc_shared((experts,), "int32")
            T.copy(count, all_s)
            T.cumsum(all_s, dim=1)
            for e in T.Parallel(experts):
                ends[e] = all_s[e, blocks - 1]
            T.cumsum(ends, dim=0)
            for e in T.Parallel(experts + 1):
                start[e] = T.if_then_else(e == 0, 0, ends[T.max(e - 1, 0)])
            for e, b in T.Parallel(experts, blocks):
                before = T.if_then_else(e == 0, 0, ends[T.max(e - 1, 0)])
                count[e, b] = before + T.if_then_else(b == 0, 0, all_s[e, T.max(b - 1, 0)])

        with T.Kernel(blocks, threads=threads) as bx:
            e_s = T.alloc_shared((block,), "int32")
            rank = T.alloc_fragment((block,), "int32")
            for i in T.Parallel(block):
                e_s[i] = T.if_then_else(bx * block + i < n, chosen[bx * block + i], -1)
            T.clear(rank)
            for j in T.serial(block):  # those of the same expert before it
                for i in T.Parallel(block):
                    rank[i] += T.if_then_else(e_s[j] == e_s[i] and j < i, 1, 0)
            for i in T.Parallel(block):
                if bx * block + i < n:
                    at = count[T.clamp(e_s[i], 0, experts - 1), bx] + rank[i]
                    place[bx * block + i] = T.if_then_else(e_s[i] >= 0 and e_s[i] < experts, at, -1)

        with T.Kernel(tokens, threads=128) as bx:
            row = T.alloc_fragment((width,), dtype)
            T.copy(X[bx, 0], row)
            for r in T.unroll(k):
                if place[bx * k + r] >= 0:
                    T.copy(row, Y[place[bx * k + r], 0])

    return main


@tilelang.jit(out_idx=[-1])
def unpermute(tokens=128, k=4, width=256, dtype="float16", threads=128):
    @T.prim_func
    def main(
        Y: T.Tensor((tokens * k, width), dtype),
        place: T.Tensor((tokens, k), "int32"),
        weight: T.Tensor((tokens, k), "float32"),
        X: T.Tensor((tokens, width), dtype),
    ):
        with T.Kernel(tokens, threads=threads) as bx:
            total = T.alloc_fragment((width,), "float32")
            T.clear(total)
            for r in T.unroll(k):
                for j in T.Parallel(width):
                    total[j] += weight[bx, r] * Y[place[bx, r], j]
            T.copy(total, X[bx, 0])

    return main


# ---- python3 examples/moe_routing.py -------------------------------------------------------------

def verify(tokens=128, experts=64, k=4, width=256, dtype="float16"):
    import numpy as np
    from tilelang.script import check, integers, normal

    x = normal(tokens, experts)
    order = np.argsort(-x, 1, kind="stable")[:, :k]
    best = np.exp(np.take_along_axis(x, order, 1))
    fine = check(gate(tokens, experts, k), [x], [best / best.sum(1, keepdims=True), order])

    X, chosen = normal(tokens, width, dtype=dtype), integers(0, experts, tokens * k, dtype="int32")
    order = np.argsort(chosen, kind="stable")
    place = np.argsort(order, kind="stable")
    start = np.searchsorted(chosen[order], np.arange(experts + 1))
    fine &= check(permute(tokens, experts, k, width, dtype), [X, chosen], [X[order // k], start, place])

    weight, Y = abs(normal(tokens, k)), normal(tokens * k, width, dtype=dtype)
    want = (Y[place.reshape(tokens, k)] * weight[..., None]).sum(1)
    return check(unpermute(tokens, k, width, dtype), [Y, place.reshape(tokens, k).astype("int32"), weight], want) and fine


def bench(tokens=1024, experts=64, k=4, width=1024, dtype="float16"):
    from tilelang.script import integers, normal, timed

    inputs = [normal(tokens, width, dtype=dtype), integers(0, experts, tokens * k, dtype="int32")]
    timed(permute(tokens, experts, k, width, dtype), inputs)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
