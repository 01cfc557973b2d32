"""C = A @ W.T with activations in 8 bits and weights in 4: integers, a scale for each row of A and of W.

    tl verify examples/w4a8_gemm.py M=16 N=128 K=256

Weights are the left operand, straight from registers, as in w4a16_gemm.py.  A word holds what one thread needs of 32 in
a row: the codes of four in a row in the low halves of its bytes, those of the four 16 on in the high halves.  A code in
the high half of a byte is 16 times its weight, so that one mask makes four weights; the scales undo it.
All rows' words for 128 of K lie together: K / 128 x N x 4 x 4.  pack() makes them.  K is a multiple of 128.
"""
import tilelang
import tilelang.language as T

STEP = 128  # of K


@tilelang.jit(out_idx=[-1])
def w4a8_gemm(M=16, N=256, K=512, out_dtype="bfloat16", block_M=None, block_N=None, num_stages=None, threads=None, splits=1):
    """splits: blocks of a cluster (Hopper) that share the steps of a tile, for few rows."""
    block_M, block_N = block_M or min(-(-M // 16) * 16, 256), block_N or (64 if M <= 128 else 128)
    num_stages, threads = num_stages or (6 if block_M <= 128 else 4), threads or block_N * 2
    nx, own, steps = T.ceildiv(N, block_N), block_M // splits, K // STEP // splits  # own: rows that a block adds up
    assert K % (STEP * splits) == 0 and block_M % splits == 0 and (splits == 1 or M <= block_M)

    @T.macro
    def multiply(A, W, C_l, bx, by, first):
        A_s = T.alloc_shared((block_M, STEP), "int8")
        W_s = T.alloc_shared((block_N, 4, 4), "int32")
        fours = T.alloc_fragment((block_N, 4, 2, 4), "uint32")
        B_l = T.view(fours, (block_N, STEP), "int8")
        T.clear(C_l)
        for k in T.Pipelined(steps, num_stages=num_stages):
            T.copy(W[first + k, bx * block_N, 0, 0], W_s)
            T.copy(A[by * block_M, (first + k) * STEP], A_s)
            for i, w, h, t in T.Parallel(block_N, 4, 2, 4):
                fours[i, w, h, t] = T.cast(W_s[i, t, w], "uint32") << (4 - h * 4) & T.uint32(0xF0F0F0F0)
            T.gemm(B_l, A_s, C_l, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)

    @T.macro
    def scaled(total, i, j, scale_A, scale_W):
        a = T.if_then_else(i < M, scale_A[i], 0)
        w = T.if_then_else(j < N, scale_W[j], 0)
        return T.cast(total, "float32") * (a * w * 0.0625)

    @T.prim_func
    def main(
        A: T.Tensor((M, K), "int8"),
        W: T.Tensor((K // STEP, N, 4, 4), "int32"),
        scale_A: T.Tensor((M,), "float32"),
        scale_W: T.Tensor((N,), "float32"),
        C: T.Tensor((M, N), out_dtype),
    ):
        if splits == 1:
            with T.Kernel(nx, T.ceildiv(M, block_M), threads=threads) as (bx, by):
                C_l = T.alloc_fragment((block_N, block_M), "int32")
                C_s = T.alloc_shared((block_M, block_N), out_dtype)
                multiply(A, W, C_l, bx, by, 0)
                for i, j in T.Parallel(block_N, block_M):
                    C_s[j, i] = scaled(C_l[i, j], by * block_M + j, bx * block_N + i, scale_A, scale_W)
                T.copy(C_s, C[by * block_M, bx * block_N])
        else:
            sums = T.alloc_global((nx, splits, block_M, block_N), "int32")
            with T.ClusterKernel(nx, splits, cluster_dims=(1, splits, 1), threads=threads) as (bx, bz):
                C_l = T.alloc_fragment((block_N, block_M), "int32")
                total = T.alloc_fragment((own, block_N), "int32")
                multiply(A, W, C_l, bx, 0, bz * steps)
                for i, j in T.Parallel(block_N, block_M):
                    sums[bx, bz, j, i] = C_l[i, j]
                T.cluster_sync()
                T.clear(total)
                for p in T.unroll(splits):
                    for i, j in T.Parallel(own, block_N):
                        total[i, j] += sums[bx, p, bz * own + i, j]
                for i, j in T.Parallel(own, block_N):
                    if bz * own + i < M and bx * block_N + j < N:
                        C[bz * own + i, bx * block_N + j] = scaled(total[i, j], bz * own + i, bx * block_N + j, scale_A, scale_W)

    return main


# ---- python3 examples/w4a8_gemm.py ---------------------------------------------------------------

def pack(weights):
    """Weights from -8 to 7, N x K, as words, K / 128 x N x 4 x 4."""
    import numpy as np

    N, K = weights.shape
    x = (weights.astype("uint32") & 15).reshape(N, K // 128, 4, 2, 4, 4)  # of 128: 32, half, thread, one of four
    shift = 4 * np.arange(2)[:, None, None] + 8 * np.arange(4)
    words = (x << shift.astype("uint32")).sum((3, 5), dtype="uint32")
    return np.ascontiguousarray(words.transpose(1, 0, 3, 2)).view("int32")


def problem(M, N, K):
    from tilelang.script import integers, normal

    A, W = integers(-128, 128, M, K), integers(-8, 8, N, K)
    return [A, pack(W), abs(normal(M)), abs(normal(N))], W


def verify(M=16, N=256, K=512):
    from tilelang.script import check

    inputs, W = problem(M, N, K)
    A, _, a, w = inputs
    return check(w4a8_gemm(M, N, K), inputs, A.astype("float64") @ W.T * a[:, None] * w, tolerance=1e-2)


def bench(M=16, N=1024, K=2048):
    from tilelang.script import timed

    timed(w4a8_gemm(M, N, K), problem(M, N, K)[0], 2 * M * N * K)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
