"""Row softmax: rows that fit a tile stay in registers, longer ones are read twice, the second time
from the cache.

    tl bench examples/softmax.py M=4096 N=4096
"""
import tilelang
import tilelang.language as T


# A row to a block.  Each thread keeps the maximum and the sum of its own elements, four vectors of
# eight at a time; they meet at the end of the row.
def softmax_long(M, N, threads, dtype, scale):
    width = 8
    rows = 4
    step = rows * threads * width

    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(M, threads=threads) as bx:
            x = T.alloc_fragment((rows, threads, width), "float32")
            each = T.alloc_fragment((rows, threads), "float32")
            top = T.alloc_fragment((threads,), "float32")
            before = T.alloc_fragment((threads,), "float32")
            part = T.alloc_fragment((threads,), "float32")
            total = T.alloc_fragment((threads,), "float32")
            row_max = T.alloc_fragment((1,), "float32")
            row_sum = T.alloc_fragment((1,), "float32")
            T.fill(top, -T.infinity("float32"))
            T.clear(total)
            for k in T.serial(N // step):
                for r, i, j in T.Parallel(rows, threads, width):
                    x[r, i, j] = X[bx, k * step + (r * threads + i) * width + j]
                T.copy(top, before)
                T.reduce_max(x, each, dim=2)
                T.reduce_max(each, top, dim=0, clear=False)
                for r, i, j in T.Parallel(rows, threads, width):
                    x[r, i, j] = T.exp2(x[r, i, j] * scale - top[i] * scale)
                T.reduce_sum(x, each, dim=2)
                T.reduce_sum(each, part, dim=0)
                for i in T.Parallel(threads):
                    total[i] = total[i] * T.exp2((before[i] - top[i]) * scale) + part[i]
            T.reduce_max(top, row_max, dim=0)
            for i in T.Parallel(threads):
                total[i] = total[i] * T.exp2((top[i] - row_max[0]) * scale)
            T.reduce_sum(total, row_sum, dim=0)
            row_sum[0] = 1.0 / row_sum[0]
            for k in T.serial(N // step):
                for r, i, j in T.Parallel(rows, threads, width):
                    x[r, i, j] = X[bx, k * step + (r * threads + i) * width + j]
                for r, i, j in T.Parallel(rows, threads, width):
                    x[r, i, j] = T.exp2(x[r, i, j] * scale - row_max[0] * scale) * row_sum[0]
                for r, i, j in T.Parallel(rows, threads, width):
                    Y[bx, k * step + (r * threads + i) * width + j] = x[r, i, j]

    return main


@tilelang.jit(out_idx=[-1])
def softmax(M=1024, N=1024, block_M=None, threads=None, dtype="float32"):
    block_M = block_M or tilelang.recommend_rows(M, N)
    threads = threads or (128 if block_M > 1 else max(128, min(1024, N // 4096 * 128)))  # 32 elements each
    scale = 1.44269504  # log2(e): exp(x) = exp2(x * scale)
    if block_M == 1 and N >= threads * 32 and N % (min(threads, 512) * 32) == 0:
        return softmax_long(M, N, min(threads, 512), dtype, scale)

    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as bx:
            x = T.alloc_fragment((block_M, N), "float32")
            row_max = T.alloc_fragment((block_M,), "float32")
            row_sum = T.alloc_fragment((block_M,), "float32")
            T.copy(X[bx * block_M, 0], x)
            T.reduce_max(x, row_max, dim=1)
            for i, j in T.Parallel(block_M, N):
                x[i, j] = T.exp2(x[i, j] * scale - row_max[i] * scale)
            T.reduce_sum(x, row_sum, dim=1)
            for i in T.Parallel(block_M):
                row_sum[i] = 1.0 / row_sum[i]
            for i, j in T.Parallel(block_M, N):
                x[i, j] = x[i, j] * row_sum[i]
            T.copy(x, Y[bx * block_M, 0])

    return main


# ---- python3 examples/softmax.py -----------------------------------------------------------------

def verify(M=1024, N=1024):
    import numpy as np
    from tilelang.script import check, normal

    X = normal(M, N)
    e = np.exp(X - X.max(1, keepdims=True))
    return check(softmax(M, N), [X], e / e.sum(1, keepdims=True))


def bench(M=4096, N=4096):
    from tilelang.script import normal, timed

    X = normal(M, N)
    timed(softmax(M, N), [X], 5 * M * N)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
