"""Y = X / rms(X) * W, row by row."""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def rms_norm(M=1024, N=1024, block_M=None, threads=None, eps=1e-6, dtype="float32"):
    block_M = block_M or tilelang.recommend_rows(M, N)
    threads = threads or (128 if block_M > 1 else max(128, min(1024, N // 4096 * 128)))  # 32 elements each
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), W: T.Tensor((N,), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as bx:
            x = T.alloc_fragment((block_M, N), "float32")
            square = T.alloc_fragment((block_M, N), "float32")
            total = T.alloc_fragment((block_M,), "float32")
            T.copy(X[bx * block_M, 0], x)
            for i, j in T.Parallel(block_M, N):
                square[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(square, total, dim=1)
            for i in T.Parallel(block_M):
                total[i] = T.rsqrt(total[i] / N + eps)
            for i, j in T.Parallel(block_M, N):
                x[i, j] = x[i, j] * total[i] * W[j]
            T.copy(x, Y[bx * block_M, 0])

    return main


# ---- python3 examples/rms_norm.py ----------------------------------------------------------------

def verify(M=1024, N=1024):
    import numpy as np
    from tilelang.script import check, normal

    X, W = normal(M, N), normal(N)
    return check(rms_norm(M, N), [X, W], X / np.sqrt((X * X).mean(1, keepdims=True) + 1e-6) * W)


def bench(M=4096, N=4096):
    from tilelang.script import normal, timed

    X, W = normal(M, N), normal(N)
    timed(rms_norm(M, N), [X, W], 4 * M * N)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
