"""C = A @ B.T in 8-bit floats with scales: one for each row of A and 128 of K, one for 128 x 128 of B.

    tl verify examples/gemm_fp8_scaled.py M=100 N=256 K=384

The products of 128 of K are summed by the matrix units, and then scaled and added in float32.
Scales of A are stored K / 128 x M: those of a tile lie in one run.
Two sums in turn: while one is scaled the other is made.  ahead=True (Hopper) lets them: T.wgmma_gemm begins a product
that T.wait_wgmma(n) waits for, but for the last n.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def gemm_fp8_scaled(M=256, N=256, K=512, dtype="float8_e4m3fn", out_dtype="bfloat16", block_M=128, block_N=128,
                    num_stages=3, threads=256, ahead=False):
    step = 128  # of K, and of N: what one scale is for
    scales = T.ceildiv(K, step)
    multiply = T.wgmma_gemm if ahead else T.gemm
    assert step % block_N == 0

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((N, K), dtype),
        scale_A: T.Tensor((scales, M), "float32"),
        scale_B: T.Tensor((T.ceildiv(N, step), scales), "float32"),
        C: T.Tensor((M, N), out_dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            A_s = T.alloc_shared((block_M, 2 * step), dtype)
            B_s = T.alloc_shared((block_N, 2 * step), dtype)
            even = T.alloc_fragment((block_M, block_N), "float32")
            odd = T.alloc_fragment((block_M, block_N), "float32")
            acc = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, 2 * step), num_stages=num_stages):
                T.copy(A[by * block_M, k * 2 * step], A_s)
                T.copy(B[bx * block_N, k * 2 * step], B_s)
                multiply(A_s[:, 0:step], B_s[:, 0:step], even, transpose_B=True, clear_accum=True)
                multiply(A_s[:, step : 2 * step], B_s[:, step : 2 * step], odd, transpose_B=True, clear_accum=True)
                if ahead:
                    T.wait_wgmma(1)
                b = scale_B[bx * block_N // step, 2 * k]
                for i, j in T.Parallel(block_M, block_N):
                    acc[i, j] += even[i, j] * (scale_A[2 * k, by * block_M + i] * b)
                if ahead:
                    T.wait_wgmma(0)
                last = T.min(2 * k + 1, scales - 1)  # of an odd number the second half is 0
                b_last = scale_B[bx * block_N // step, last]
                for i, j in T.Parallel(block_M, block_N):
                    acc[i, j] += odd[i, j] * (scale_A[last, by * block_M + i] * b_last)
            T.copy(acc, C[by * block_M, bx * block_N])

    return main


# ---- python3 examples/gemm_fp8_scaled.py ---------------------------------------------------------

def problem(M, N, K, dtype="float8_e4m3fn"):
    from tilelang.script import normal

    scales = abs(normal(-(-K // 128), M)), abs(normal(-(-N // 128), -(-K // 128)))
    return [normal(M, K, dtype=dtype), normal(N, K, dtype=dtype), *scales]


def verify(M=256, N=256, K=512):
    from tilelang.script import check

    A, B, scale_A, scale_B = problem(M, N, K)
    a = A * scale_A.T.repeat(128, 1)[:, :K].astype("float64")
    b = B * scale_B.repeat(128, 0)[:N].repeat(128, 1)[:, :K].astype("float64")
    return check(gemm_fp8_scaled(M, N, K), [A, B, scale_A, scale_B], a @ b.T, tolerance=1e-2)


def bench(M=256, N=512, K=1024):
    from tilelang.script import timed

    timed(gemm_fp8_scaled(M, N, K), problem(M, N, K), 2 * M * N * K)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
