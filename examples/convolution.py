"""2-D convolution, NHWC x HWCF -> NHWF, as a matrix product over im2col tiles."""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def convolution_im2col(N=2, C=32, H=28, W=28, F=64, K=3, S=1, D=1, P=1, dtype="float16",
                       block_M=128, block_N=64, block_K=32, num_stages=3, threads=128, out_dtype="float32"):
    """Tiles of the image by T.im2col; the filter and the result are matrices."""
    OH = (H + 2 * P - D * (K - 1) - 1) // S + 1
    OW = (W + 2 * P - D * (K - 1) - 1) // S + 1

    @T.prim_func
    def main(
        data: T.Tensor((N, H, W, C), dtype),
        kernel: T.Tensor((K * K * C, F), dtype),
        out: T.Tensor((N * OH * OW, F), out_dtype),
    ):
        with T.Kernel(T.ceildiv(F, block_N), T.ceildiv(N * OH * OW, block_M), threads=threads) as (bx, by):
            data_s = T.alloc_shared((block_M, block_K), dtype)
            kernel_s = T.alloc_shared((block_K, block_N), dtype)
            out_l = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(out_l)
            for ko in T.Pipelined(T.ceildiv(K * K * C, block_K), num_stages=num_stages):
                T.im2col(data, data_s, by, ko, K, S, D, P)
                T.copy(kernel[ko * block_K, bx * block_N], kernel_s)
                T.gemm(data_s, kernel_s, out_l, precision="float32")
            T.copy(out_l, out[by * block_M, bx * block_N])

    return main


@tilelang.jit(out_idx=[-1])
def convolution(N=2, C=32, H=28, W=28, F=64, K=3, S=1, D=1, P=1, dtype="float32",
                block_M=128, block_N=48, block_K=32):
    OH = (H + 2 * P - D * (K - 1) - 1) // S + 1
    OW = (W + 2 * P - D * (K - 1) - 1) // S + 1

    @T.prim_func
    def main(
        data: T.Tensor((N, H, W, C), dtype),
        kernel: T.Tensor((K, K, C, F), dtype),
        out: T.Tensor((N, OH, OW, F), "float32"),
    ):
        with T.Kernel(T.ceildiv(F, block_N), T.ceildiv(N * OH * OW, block_M), threads=128) as (bx, by):
            data_s = T.alloc_shared((block_M, block_K), dtype)
            kernel_s = T.alloc_shared((block_K, block_N), dtype)
            out_l = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(out_l)
            for ko in T.Pipelined(T.ceildiv(K * K * C, block_K), num_stages=2):
                for i, j in T.Parallel(block_M, block_K):
                    k = ko * block_K + j
                    m = by * block_M + i
                    h = m % (OH * OW) // OW * S + k // (K * C) * D - P
                    w = m % OW * S + k // C % K * D - P
                    inside = (h >= 0) and (w >= 0) and (h < H) and (w < W) and (k < K * K * C)
                    data_s[i, j] = T.if_then_else(inside, data[m // (OH * OW), h, w, k % C], 0)
                for i, j in T.Parallel(block_K, block_N):
                    k = ko * block_K + i
                    kernel_s[i, j] = kernel[k // (K * C), k // C % K, k % C, bx * block_N + j]
                T.gemm(data_s, kernel_s, out_l, precision="float32")
            for i, j in T.Parallel(block_M, block_N):
                m = by * block_M + i
                out[m // (OH * OW), m % (OH * OW) // OW, m % OW, bx * block_N + j] = out_l[i, j]

    return main


# ---- python3 examples/convolution.py -------------------------------------------------------------

def verify(N=2, C=32, H=28, W=28, F=64):
    import numpy as np
    from tilelang.script import check, normal

    data, kernel = normal(N, H, W, C), normal(3, 3, C, F)
    around = np.pad(data, ((0, 0), (1, 1), (1, 1), (0, 0)))
    want = sum(around[:, i : i + H, j : j + W] @ kernel[i, j] for i in range(3) for j in range(3))
    return check(convolution(N, C, H, W, F), [data, kernel], want)


def bench(N=8, C=64, H=56, W=56, F=64):
    from tilelang.script import normal, timed

    data, kernel = normal(N, H, W, C), normal(3, 3, C, F)
    timed(convolution(N, C, H, W, F), [data, kernel], 2 * N * H * W * F * 9 * C)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
