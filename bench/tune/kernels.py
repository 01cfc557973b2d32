"""Kernels whose configurations are ranked and timed: `make bench-tune`, and what calibrates the model.

Each row has a function, the arguments of two shapes and a space.  The model is fitted to the rows and shapes of CALIBRATE
and judged by those of JUDGE, which it has not seen."""

import tilelang
import tilelang.language as T
from tilelang.tune import Space


@tilelang.jit(out_idx=[-1])
def gemm(M, N, K, nt=False, dtype="float16", block_M=128, block_N=128, block_K=64, stages=3, threads=256):
    shape_b, tile_b = ((N, K), (block_N, block_K)) if nt else ((K, N), (block_K, block_N))

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor(shape_b, dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            A_s = T.alloc_shared((block_M, block_K), dtype)
            B_s = T.alloc_shared(tile_b, dtype)
            C_l = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=stages):
                T.copy(A[by * block_M, k * block_K], A_s)
                if nt:
                    T.copy(B[bx * block_N, k * block_K], B_s)
                else:
                    T.copy(B[k * block_K, bx * block_N], B_s)
                T.gemm(A_s, B_s, C_l, transpose_B=nt)
            T.copy(C_l, C[by * block_M, bx * block_N])

    return main


@tilelang.jit(out_idx=[-1])
def attention(B, H, S, D, causal=False, dtype="float16", block_M=128, block_N=64, stages=2, threads=256):
    scale = 1.44269504 / D**0.5

    @T.prim_func
    def main(Q: T.Tensor((B, H, S, D), dtype), K: T.Tensor((B, H, S, D), dtype),
             V: T.Tensor((B, H, S, D), dtype), O: T.Tensor((B, H, S, D), dtype)):
        with T.Kernel(T.ceildiv(S, block_M), H, B, threads=threads) as (bx, h, b):
            Q_s = T.alloc_shared((block_M, D), dtype)
            K_s = T.alloc_shared((block_N, D), dtype)
            V_s = T.alloc_shared((block_N, D), dtype)
            scores = T.alloc_fragment((block_M, block_N), "float32")
            weights = T.alloc_fragment((block_M, block_N), dtype)
            result = T.alloc_fragment((block_M, D), "float32")
            top = T.alloc_fragment((block_M,), "float32")
            before = T.alloc_fragment((block_M,), "float32")
            factor = T.alloc_fragment((block_M,), "float32")
            total = T.alloc_fragment((block_M,), "float32")
            part = T.alloc_fragment((block_M,), "float32")
            T.copy(Q[b, h, bx * block_M, 0], Q_s)
            T.fill(result, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity("float32"))
            last = T.ceildiv((bx + 1) * block_M, block_N) if causal else T.ceildiv(S, block_N)
            for k in T.Pipelined(last, num_stages=stages):
                T.copy(K[b, h, k * block_N, 0], K_s)
                if causal:
                    for i, j in T.Parallel(block_M, block_N):
                        scores[i, j] = T.if_then_else(bx * block_M + i >= k * block_N + j, 0, -T.infinity("float32"))
                else:
                    T.clear(scores)
                T.gemm(Q_s, K_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(V[b, h, k * block_N, 0], V_s)
                T.copy(top, before)
                T.reduce_max(scores, top, dim=1, clear=False)
                for i in T.Parallel(block_M):
                    factor[i] = T.exp2((before[i] - top[i]) * scale)
                for i, j in T.Parallel(block_M, block_N):
                    scores[i, j] = T.exp2((scores[i, j] - top[i]) * scale)
                T.reduce_sum(scores, part, dim=1)
                for i in T.Parallel(block_M):
                    total[i] = total[i] * factor[i] + part[i]
                T.copy(scores, weights)
                for i, j in T.Parallel(block_M, D):
                    result[i, j] *= factor[i]
                T.gemm(weights, V_s, result, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_M, D):
                result[i, j] /= total[i]
            T.copy(result, O[b, h, bx * block_M, 0])

    return main


@tilelang.jit(out_idx=[-1])
def softmax(M, N, dtype="float32", rows=1, chunk=1024, threads=128, stages=1):
    """Rows by chunks: sums are corrected as greater elements come."""
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, rows), threads=threads) as bx:
            x = T.alloc_fragment((rows, chunk), "float32")
            e = T.alloc_fragment((rows, chunk), "float32")
            top = T.alloc_fragment((rows,), "float32")
            before = T.alloc_fragment((rows,), "float32")
            part = T.alloc_fragment((rows,), "float32")
            total = T.alloc_fragment((rows,), "float32")
            T.fill(top, -T.infinity("float32"))
            T.fill(total, 0)
            for k in T.Pipelined(T.ceildiv(N, chunk), num_stages=stages):
                T.copy(X[bx * rows, k * chunk], x)
                T.copy(top, before)
                T.reduce_max(x, top, dim=1, clear=False)
                for i, j in T.Parallel(rows, chunk):
                    e[i, j] = T.exp2((x[i, j] - top[i]) * 1.44269504)
                T.reduce_sum(e, part, dim=1)
                for i in T.Parallel(rows):
                    total[i] = total[i] * T.exp2((before[i] - top[i]) * 1.44269504) + part[i]
            for k in T.serial(T.ceildiv(N, chunk)):
                T.copy(X[bx * rows, k * chunk], x)
                for i, j in T.Parallel(rows, chunk):
                    x[i, j] = T.exp2((x[i, j] - top[i]) * 1.44269504) / total[i]
                T.copy(x, Y[bx * rows, k * chunk])

    return main


@tilelang.jit(out_idx=[-1])
def norm(M, N, dtype="float16", rows=1, chunk=1024, threads=128):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), W: T.Tensor((N,), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, rows), threads=threads) as bx:
            x = T.alloc_fragment((rows, chunk), "float32")
            square = T.alloc_fragment((rows, chunk), "float32")
            part = T.alloc_fragment((rows,), "float32")
            total = T.alloc_fragment((rows,), "float32")
            T.fill(total, 0)
            for k in T.serial(T.ceildiv(N, chunk)):
                T.copy(X[bx * rows, k * chunk], x)
                for i, j in T.Parallel(rows, chunk):
                    square[i, j] = x[i, j] * x[i, j]
                T.reduce_sum(square, part, dim=1)
                for i in T.Parallel(rows):
                    total[i] += part[i]
            for i in T.Parallel(rows):
                total[i] = T.rsqrt(total[i] / N + 1e-6)
            for k in T.serial(T.ceildiv(N, chunk)):
                T.copy(X[bx * rows, k * chunk], x)
                for i, j in T.Parallel(rows, chunk):
                    x[i, j] = x[i, j] * total[i] * W[k * chunk + j]
                T.copy(x, Y[bx * rows, k * chunk])

    return main


@tilelang.jit(out_idx=[-1])
def layer_norm(M, N, dtype="float16", rows=1, chunk=1024, threads=128):
    """What bench/tune/peers.py compares; the model is neither fitted to it nor judged by it."""
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), W: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, rows), threads=threads) as bx:
            x = T.alloc_fragment((rows, chunk), "float32")
            square = T.alloc_fragment((rows, chunk), "float32")
            part = T.alloc_fragment((rows,), "float32")
            total = T.alloc_fragment((rows,), "float32")
            mean = T.alloc_fragment((rows,), "float32")
            T.fill(total, 0)
            T.fill(mean, 0)
            for k in T.serial(T.ceildiv(N, chunk)):
                T.copy(X[bx * rows, k * chunk], x)
                for i, j in T.Parallel(rows, chunk):
                    square[i, j] = x[i, j] * x[i, j]
                T.reduce_sum(x, part, dim=1)
                for i in T.Parallel(rows):
                    mean[i] += part[i] / N
                T.reduce_sum(square, part, dim=1)
                for i in T.Parallel(rows):
                    total[i] += part[i] / N
            for i in T.Parallel(rows):
                total[i] = T.rsqrt(total[i] - mean[i] * mean[i] + 1e-5)
            for k in T.serial(T.ceildiv(N, chunk)):
                T.copy(X[bx * rows, k * chunk], x)
                for i, j in T.Parallel(rows, chunk):
                    x[i, j] = (x[i, j] - mean[i]) * total[i] * W[k * chunk + j] + B[k * chunk + j]
                T.copy(x, Y[bx * rows, k * chunk])

    return main


@tilelang.jit(out_idx=[-1])
def gemv(N, K, dtype="float16", block_N=8, block_K=512, threads=128):
    @T.prim_func
    def main(A: T.Tensor((N, K), dtype), x: T.Tensor((K,), dtype), y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block_N), threads=threads) as bx:
            a = T.alloc_fragment((block_N, block_K), dtype)
            p = T.alloc_fragment((block_N, block_K), "float32")
            total = T.alloc_fragment((block_N,), "float32")
            T.clear(p)
            for k in T.serial(T.ceildiv(K, block_K)):
                T.copy(A[bx * block_N, k * block_K], a)
                for i, j in T.Parallel(block_N, block_K):
                    p[i, j] += T.cast(a[i, j], "float32") * T.cast(x[k * block_K + j], "float32")
            T.reduce_sum(p, total, dim=1)
            T.copy(total, y[bx * block_N])

    return main


@tilelang.jit(out_idx=[-1])
def columns(M, N, dtype="float32", block_M=64, block_N=128, threads=128):
    """Sums of columns."""
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block_N), threads=threads) as bx:
            x = T.alloc_fragment((block_M, block_N), dtype)
            p = T.alloc_fragment((block_M, block_N), "float32")
            total = T.alloc_fragment((block_N,), "float32")
            T.clear(p)
            for k in T.serial(T.ceildiv(M, block_M)):
                T.copy(X[k * block_M, bx * block_N], x)
                for i, j in T.Parallel(block_M, block_N):
                    p[i, j] += x[i, j]
            T.reduce_sum(p, total, dim=0)
            T.copy(total, y[bx * block_N])

    return main


@tilelang.jit(out_idx=[-1])
def transpose(M, N, dtype="float16", block_M=64, block_N=64, threads=128, staged=True):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((N, M), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            if staged:
                x = T.alloc_shared((block_M, block_N), dtype)
                T.copy(X[by * block_M, bx * block_N], x)
                for i, j in T.Parallel(block_N, block_M):
                    Y[bx * block_N + i, by * block_M + j] = x[j, i]
            else:
                for i, j in T.Parallel(block_N, block_M):
                    Y[bx * block_N + i, by * block_M + j] = X[by * block_M + j, bx * block_N + i]

    return main


@tilelang.jit(out_idx=[-1])
def swiglu(M, N, dtype="float16", block_M=16, block_N=256, threads=128):
    @T.prim_func
    def main(X: T.Tensor((M, 2 * N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            for i, j in T.Parallel(block_M, block_N):
                g = T.cast(X[by * block_M + i, bx * block_N + j], "float32")
                u = T.cast(X[by * block_M + i, N + bx * block_N + j], "float32")
                Y[by * block_M + i, bx * block_N + j] = g / (1.0 + T.exp2(g * -1.44269504)) * u

    return main


@tilelang.jit(out_idx=[-1])
def convolution(N, C, H, W, F, K=3, dtype="float16", block_M=128, block_N=128, block_K=64, stages=3, threads=256):
    """Windows of K x K, borders of K // 2 around, as a product by blocks of im2col."""
    @T.prim_func
    def main(X: T.Tensor((N, H, W, C), dtype), G: T.Tensor((K, K, C, F), dtype),
             Y: T.Tensor((N, H, W, F), dtype)):
        with T.Kernel(T.ceildiv(F, block_N), T.ceildiv(N * H * W, block_M), threads=threads) as (bx, by):
            x = T.alloc_shared((block_M, block_K), dtype)
            g = T.alloc_shared((block_K, block_N), dtype)
            y = T.alloc_fragment((block_M, block_N), "float32")
            g_flat = T.Tensor((K * K * C, F), dtype, G.data)
            y_flat = T.Tensor((N * H * W, F), dtype, Y.data)
            T.clear(y)
            for k in T.Pipelined(T.ceildiv(K * K * C, block_K), num_stages=stages):
                T.c2d_im2col(X, x, by, k, K, 1, 1, K // 2)
                T.copy(g_flat[k * block_K, bx * block_N], g)
                T.gemm(x, g, y)
            T.copy(y, y_flat[by * block_M, bx * block_N])

    return main


TILES = dict(block_M=[64, 128, 256], block_N=[64, 128, 192, 256], block_K=[32, 64, 128], stages=[2, 3, 4],
             threads=[128, 256])
HEADS = dict(block_M=[64, 128, 192], block_N=[32, 64, 96, 128], stages=[1, 2, 3], threads=[128, 256, 384])
ROWS = dict(rows=[1, 2, 4, 8], chunk=[512, 1024, 2048, 4096], threads=[64, 128, 256, 512])
PANELS = dict(block_M=[4, 8, 16, 32, 64, 128], block_N=[32, 64, 128, 256, 512], threads=[64, 128, 256, 512])

# name: (function, arguments to calibrate with, arguments to judge by, space)
KERNELS = {
    "gemm": (gemm, dict(M=4096, N=4096, K=4096), dict(M=2560, N=3072, K=5120), Space(**TILES)),
    "gemm_nt": (gemm, dict(M=2048, N=2048, K=8192, nt=True), dict(M=8192, N=1024, K=2048, nt=True), Space(**TILES)),
    "gemm_few_rows": (gemm, dict(M=64, N=8192, K=8192, nt=True), dict(M=128, N=4096, K=7168, nt=True), Space(**TILES)),
    "attention": (attention, dict(B=4, H=16, S=2048, D=128), dict(B=2, H=32, S=4096, D=128), Space(**HEADS)),
    "attention_causal": (attention, dict(B=4, H=16, S=2048, D=64, causal=True),
                         dict(B=8, H=8, S=4096, D=64, causal=True), Space(**HEADS)),
    "convolution": (convolution, dict(N=16, C=128, H=56, W=56, F=128), dict(N=32, C=256, H=28, W=28, F=256), Space(**TILES)),
    "softmax": (softmax, dict(M=8192, N=4096), dict(M=2048, N=16384), Space(**ROWS, stages=[0, 2])),
    "norm": (norm, dict(M=8192, N=4096), dict(M=16384, N=8192), Space(**dict(ROWS, threads=[32, 64, 128, 256, 512], rows=[1, 2, 3, 4, 8, 16]))),
    "gemv": (gemv, dict(N=8192, K=8192), dict(N=28672, K=4096),
             Space(block_N=[1, 2, 4, 8, 16, 32], block_K=[128, 256, 512, 1024, 2048], threads=[32, 64, 128, 256])),
    "columns": (columns, dict(M=8192, N=8192), dict(M=4096, N=28672), Space(**PANELS)),
    "transpose": (transpose, dict(M=8192, N=8192), dict(M=4096, N=12288),
                  Space(block_M=[16, 32, 64, 128], block_N=[16, 32, 64, 128], threads=[64, 128, 256, 512], staged=[True, False])),
    "swiglu": (swiglu, dict(M=8192, N=8192), dict(M=4096, N=14336), Space(**PANELS)),
}


def sample(space, args, most=100, seed=0):
    """At most so many points, the same ones each time."""
    import random

    points = list(space.points(args))
    random.Random(seed).shuffle(points)
    return points[:most]
