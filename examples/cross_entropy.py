"""Cross entropy of rows of logits: log(sum(exp(x))) - x[label], one pass over each row.

    tl verify examples/cross_entropy.py M=5 N=1000

A row to a block.  Each thread keeps the maximum and the sum of its own elements; they meet at the end.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def cross_entropy(M=64, N=4096, threads=256, dtype="float32"):
    scale = 1.44269504  # log2(e): exp(x) = exp2(x * scale)
    width, rows = 8, 4
    step = rows * threads * width

    @T.macro
    def fold(x, each, part, top, before, total):
        """More elements into the maximum and the sum of each thread."""
        T.copy(top, before)
        T.reduce_max(x, each, dim=2)
        T.reduce_max(each, top, dim=0, clear=False)
        for r, i, j in T.Parallel(rows, threads, width):
            x[r, i, j] = T.exp2(x[r, i, j] * scale - top[i] * scale)
        T.reduce_sum(x, each, dim=2)
        T.reduce_sum(each, part, dim=0)
        for i in T.Parallel(threads):
            total[i] = total[i] * T.exp2((before[i] - top[i]) * scale) + part[i]

    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), label: T.Tensor((M,), "int32"), loss: T.Tensor((M,), "float32")):
        with T.Kernel(M, threads=threads) as bx:
            x = T.alloc_fragment((rows, threads, width), "float32")
            each = T.alloc_fragment((rows, threads), "float32")
            top = T.alloc_fragment((threads,), "float32")
            before = T.alloc_fragment((threads,), "float32")
            part = T.alloc_fragment((threads,), "float32")
            total = T.alloc_fragment((threads,), "float32")
            row_max = T.alloc_fragment((1,), "float32")
            row_sum = T.alloc_fragment((1,), "float32")
            T.fill(top, -1e30)
            T.clear(total)
            for k in T.serial(N // step):
                for r, i, j in T.Parallel(rows, threads, width):
                    x[r, i, j] = X[bx, k * step + (r * threads + i) * width + j]
                fold(x, each, part, top, before, total)
            if N % step:
                for r, i, j in T.Parallel(rows, threads, width):
                    at = N // step * step + (r * threads + i) * width + j
                    x[r, i, j] = T.if_then_else(at < N, X[bx, at], -1e30)
                fold(x, each, part, top, before, total)
            T.reduce_max(top, row_max, dim=0)
            for i in T.Parallel(threads):
                total[i] = total[i] * T.exp2((top[i] - row_max[0]) * scale)
            T.reduce_sum(total, row_sum, dim=0)
            loss[bx] = T.log(row_sum[0]) + row_max[0] - T.cast(X[bx, label[bx]], "float32")

    return main


# ---- python3 examples/cross_entropy.py -----------------------------------------------------------

def verify(M=64, N=5000, dtype="float32"):
    import numpy as np
    from tilelang.script import check, integers, normal

    X, label = normal(M, N, dtype=dtype), integers(0, N, M, dtype="int32")
    want = np.log(np.exp(X.astype("float64")).sum(1)) - X[np.arange(M), label]
    return check(cross_entropy(M, N, dtype=dtype), [X, label], want)


def bench(M=256, N=32768):
    from tilelang.script import integers, normal, timed

    timed(cross_entropy(M, N), [normal(M, N), integers(0, N, M, dtype="int32")], 4 * M * N)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
