"""X + R, its RMS norm, and that in 8-bit floats with a scale for each 128 of a row, in one pass.

    tl verify examples/norm_quant.py M=5 N=512

Scales are stored N / 128 x M, as gemm_fp8_scaled.py wants them.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[3, 4, 5])
def norm_quant(M=64, N=1024, threads=None, eps=1e-6, dtype="float32"):
    groups, most = N // 128, 448.0
    threads = threads or min(max(N // 16, 64), 1024)

    @T.prim_func
    def main(
        X: T.Tensor((M, N), dtype),
        R: T.Tensor((M, N), dtype),
        W: T.Tensor((N,), dtype),
        S: T.Tensor((M, N), dtype),
        Y: T.Tensor((M, N), "float8_e4m3fn"),
        scale: T.Tensor((groups, M), "float32"),
    ):
        with T.Kernel(M, threads=threads) as bx:
            x = T.alloc_fragment((groups, 128), "float32")
            square = T.alloc_fragment((groups, 128), "float32")
            part = T.alloc_fragment((groups,), "float32")
            total = T.alloc_fragment((1,), "float32")
            peak = T.alloc_fragment((groups,), "float32")
            for g, j in T.Parallel(groups, 128):
                x[g, j] = T.cast(X[bx, g * 128 + j], "float32") + T.cast(R[bx, g * 128 + j], "float32")
            for g, j in T.Parallel(groups, 128):
                S[bx, g * 128 + j] = x[g, j]
                square[g, j] = x[g, j] * x[g, j]
            T.reduce_sum(square, part, dim=1)
            T.reduce_sum(part, total, dim=0)
            for g, j in T.Parallel(groups, 128):
                x[g, j] = x[g, j] * T.rsqrt(total[0] / N + eps) * W[g * 128 + j]
            T.reduce_absmax(x, peak, dim=1)
            for g in T.Parallel(groups):
                peak[g] = T.max(peak[g], 1e-10) / most
                scale[g, bx] = peak[g]
            for g, j in T.Parallel(groups, 128):
                Y[bx, g * 128 + j] = T.clamp(x[g, j] / peak[g], -most, most)

    return main


# ---- python3 examples/norm_quant.py --------------------------------------------------------------

def verify(M=64, N=1024):
    import numpy as np
    from tilelang.script import check, normal

    X, R, W = normal(M, N), normal(M, N), normal(N)
    s = X.astype("float64") + R
    y = s / np.sqrt((s * s).mean(1, keepdims=True) + 1e-6) * W
    scale = np.abs(y).reshape(M, N // 128, 128).max(2) / 448
    return check(norm_quant(M, N), [X, R, W], [s, y / scale.repeat(128, 1), scale.T], tolerance=0.07)


def bench(M=1024, N=4096):
    from tilelang.script import normal, timed

    timed(norm_quant(M, N), [normal(M, N), normal(M, N), normal(N)], 6 * M * N)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
