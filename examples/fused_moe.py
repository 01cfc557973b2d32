"""The experts of a mixture: gate and up projections with their activation in one kernel, down projection, weighted sums.

    tl verify examples/fused_moe.py tokens=40 experts=4 hidden=128

Rows stand in the order of their experts, as permute of moe_routing.py leaves them: start and place are what it gives,
weight is what its gate gives.  Expert e makes (silu(x @ gate[e].T) * (x @ up[e].T)) @ down[e].T of its rows x.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def fused_moe(tokens=64, experts=4, k=2, width=256, hidden=256, dtype="float16", block_M=128, block_N=256, block_K=64,
              num_stages=4, threads=256):
    rows, half = tokens * k, block_N // 2
    tiles = T.ceildiv(rows, block_M) + experts  # an expert may end in the midst of a tile

    @T.macro
    def find(start, by):
        """The expert whose rows tile `by` has, the first of them and the one behind the last."""
        expert = T.alloc_var("int32", init=0)
        row0 = T.alloc_var("int32", init=0)
        end = T.alloc_var("int32", init=0)
        before = T.alloc_var("int32", init=0)  # tiles of the experts so far
        for e in T.serial(experts):
            here = T.ceildiv(start[e + 1] - start[e], block_M)
            if by >= before and by < before + here:
                expert = e
                row0 = start[e] + (by - before) * block_M
                end = start[e + 1]
            before += here
        return expert, row0, end

    @T.prim_func
    def main(
        X: T.Tensor((rows, width), dtype),
        gate: T.Tensor((experts, hidden, width), dtype),
        up: T.Tensor((experts, hidden, width), dtype),
        down: T.Tensor((experts, width, hidden), dtype),
        start: T.Tensor((experts + 1,), "int32"),
        place: T.Tensor((tokens, k), "int32"),
        weight: T.Tensor((tokens, k), "float32"),
        Y: T.Tensor((tokens, width), dtype),
    ):
        inner = T.alloc_global((rows, hidden), dtype)
        each = T.alloc_global((rows, width), dtype)

        with T.Kernel(T.ceildiv(hidden, half), tiles, threads=threads) as (bx, by):
            A_s = T.alloc_shared((block_M, block_K), dtype)
            G_s = T.alloc_shared((half, block_K), dtype)
            U_s = T.alloc_shared((half, block_K), dtype)
            H_s = T.alloc_shared((block_M, half), dtype)
            G_l = T.alloc_fragment((block_M, half), "float32")
            U_l = T.alloc_fragment((block_M, half), "float32")
            expert, row0, end = find(start, by)
            T.clear(G_l)
            T.clear(U_l)
            for i in T.Pipelined(T.if_then_else(row0 < end, T.ceildiv(width, block_K), 0), num_stages=num_stages):
                T.copy(X[row0, i * block_K], A_s)
                T.copy(gate[expert, bx * half, i * block_K], G_s)
                T.copy(up[expert, bx * half, i * block_K], U_s)
                T.gemm(A_s, G_s, G_l, transpose_B=True)
                T.gemm(A_s, U_s, U_l, transpose_B=True)
            for i, j in T.Parallel(block_M, half):
                G_l[i, j] = G_l[i, j] / (1 + T.exp(-G_l[i, j])) * U_l[i, j]
            T.copy(G_l, H_s)
            for i, j in T.Parallel(block_M, half):
                if row0 + i < end and bx * half + j < hidden:  # the rows behind are another expert's
                    inner[row0 + i, bx * half + j] = H_s[i, j]

        with T.Kernel(T.ceildiv(width, block_N), tiles, threads=threads) as (bx, by):
            A_s = T.alloc_shared((block_M, block_K), dtype)
            B_s = T.alloc_shared((block_N, block_K), dtype)
            C_s = T.alloc_shared((block_M, block_N), dtype)
            C_l = T.alloc_fragment((block_M, block_N), "float32")
            expert, row0, end = find(start, by)
            T.clear(C_l)
            for i in T.Pipelined(T.if_then_else(row0 < end, T.ceildiv(hidden, block_K), 0), num_stages=num_stages):
                T.copy(inner[row0, i * block_K], A_s)
                T.copy(down[expert, bx * block_N, i * block_K], B_s)
                T.gemm(A_s, B_s, C_l, transpose_B=True)
            T.copy(C_l, C_s)
            for i, j in T.Parallel(block_M, block_N):
                if row0 + i < end and bx * block_N + j < width:
                    each[row0 + i, bx * block_N + j] = C_s[i, j]

        with T.Kernel(tokens, threads=128) as bx:
            total = T.alloc_fragment((width,), "float32")
            T.clear(total)
            for r in T.unroll(k):
                for j in T.Parallel(width):
                    total[j] += weight[bx, r] * each[place[bx, r], j]
            T.copy(total, Y[bx, 0])

    return main


# ---- python3 examples/fused_moe.py ---------------------------------------------------------------

def problem(tokens, experts, k, width, hidden, dtype):
    """Choices of the experts that are very uneven, and the inputs that follow from them."""
    import numpy as np
    from tilelang.script import normal

    rng = np.random.default_rng(1)
    chosen = np.minimum(rng.geometric(0.5, (tokens, k)) - 1, experts - 1).reshape(-1)
    order = np.argsort(chosen, kind="stable")
    start = np.searchsorted(chosen[order], np.arange(experts + 1)).astype("int32")
    place = np.argsort(order, kind="stable").reshape(tokens, k).astype("int32")
    x, weight = normal(tokens, width, dtype=dtype), abs(normal(tokens, k))
    gate, up = ((normal(experts, hidden, width) / width**0.5).astype(dtype) for _ in range(2))
    down = (normal(experts, width, hidden) / hidden**0.5).astype(dtype)
    return [x[order // k], gate, up, down, start, place, weight]


def verify(tokens=64, experts=4, k=2, width=256, hidden=192, dtype=None):
    import numpy as np
    from tilelang.script import best_dtype, check

    dtype = dtype or best_dtype()
    inputs = problem(tokens, experts, k, width, hidden, dtype)
    x, gate, up, down, start, place, weight = inputs
    each = np.zeros((tokens * k, width))
    for e, (a, b) in enumerate(zip(start, start[1:])):
        g, u = (x[a:b].astype("float64") @ w[e].T.astype("float64") for w in (gate, up))
        each[a:b] = g / (1 + np.exp(-g)) * u @ down[e].T
    want = (each[place] * weight[..., None]).sum(1)
    return check(fused_moe(tokens, experts, k, width, hidden, dtype), inputs, want)


def bench(tokens=512, experts=8, k=2, width=512, hidden=512, dtype=None):
    from tilelang.script import best_dtype, timed

    dtype = dtype or best_dtype()
    inputs = problem(tokens, experts, k, width, hidden, dtype)
    timed(fused_moe(tokens, experts, k, width, hidden, dtype), inputs, 6 * tokens * k * width * hidden)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
