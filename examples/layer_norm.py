"""Y = (X - mean) / sqrt(var + eps) * W + B, row by row."""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def layer_norm(M=1024, N=1024, block_M=None, threads=None, eps=1e-5, dtype="float32"):
    block_M = block_M or tilelang.recommend_rows(M, N)
    threads = threads or (128 if block_M > 1 else max(128, min(1024, N // 4096 * 128)))  # 32 elements each
    @T.prim_func
    def main(
        X: T.Tensor((M, N), dtype),
        W: T.Tensor((N,), dtype),
        B: T.Tensor((N,), dtype),
        Y: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as bx:
            x = T.alloc_fragment((block_M, N), "float32")
            square = T.alloc_fragment((block_M, N), "float32")
            mean = T.alloc_fragment((block_M,), "float32")
            var = T.alloc_fragment((block_M,), "float32")
            T.copy(X[bx * block_M, 0], x)
            T.reduce_sum(x, mean, dim=1)
            for i in T.Parallel(block_M):
                mean[i] = mean[i] / N
            for i, j in T.Parallel(block_M, N):
                x[i, j] = x[i, j] - mean[i]
            for i, j in T.Parallel(block_M, N):
                square[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(square, var, dim=1)
            for i in T.Parallel(block_M):
                var[i] = T.rsqrt(var[i] / N + eps)
            for i, j in T.Parallel(block_M, N):
                Y[bx * block_M + i, j] = x[i, j] * var[i] * W[j] + B[j]

    return main


# ---- python3 examples/layer_norm.py --------------------------------------------------------------

def verify(M=1024, N=1024):
    import numpy as np
    from tilelang.script import check, normal

    X, W, B = normal(M, N), normal(N), normal(N)
    mean, var = X.mean(1, keepdims=True), X.var(1, keepdims=True)
    return check(layer_norm(M, N), [X, W, B], (X - mean) / np.sqrt(var + 1e-5) * W + B)


def bench(M=4096, N=4096):
    from tilelang.script import normal, timed

    X, W, B = normal(M, N), normal(N), normal(N)
    timed(layer_norm(M, N), [X, W, B], 7 * M * N)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
