"""C = A @ W.T with activations in 16 bits and weights in 4, laid out for matrix units: W4A16 and MXFP4.

    tl verify examples/w4a16_gemm.py M=16 N=128 K=256
    tl verify examples/w4a16_gemm.py M=16 N=128 K=256 kind=mxfp4

Weights are the left operand, straight from registers; the tile is turned round, rows of W are its rows.
A word holds what one thread needs of 32 in a row: of each eight the same two, which lie 16 bits apart;
the four words of a thread for 128 in a row lie together.  pack() makes the words.
Of scales those of a row for 128 of K lie together: K / 128 x N, or K / 128 x N x 4.  K is a multiple of 128.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def w4a16_gemm(M=16, N=256, K=512, kind="int4", dtype="float16", block_M=None, block_N=None, num_stages=None,
               splits=1, threads=None):
    """splits: blocks of a cluster (Hopper) that share the steps of a tile, for few rows."""
    few = M <= 64
    step = 128  # of K; its scales lie together: one for each row, or one for each 32
    each, stored = (1, dtype) if kind == "int4" else (4, "uint8")
    block_M = block_M or min(-(-M // 16) * 16, 256)
    block_N = block_N or (64 if few else 128)
    num_stages, threads = num_stages or (8 if few else 3), threads or block_N * 2
    nx, ny = T.ceildiv(N, block_N), T.ceildiv(M, block_M)
    steps = T.ceildiv(K // step, splits)
    own = block_M // splits  # rows that a block adds up

    def value(word):
        """The number of the last 4 bits."""
        if kind == "int4":  # 2 ** 23 + w is a float whose last bits are w
            return T.reinterpret(word & T.uint32(15) | T.uint32(0x4B000000), "float32") - 8388616.0
        return T.reinterpret((word & T.uint32(7)) << 22 | (word & T.uint32(8)) << 28, "float32") * 2.0**126

    def factor(scale):
        """Of a group: itself, or a power of two by its exponent."""
        if kind == "int4":
            return T.cast(scale, "float32")
        return T.reinterpret(T.cast(scale, "uint32") << 23, "float32")

    @T.macro
    def multiply(A, W, S, C_l, bx, by, first):
        A_s = T.alloc_shared((block_M, step), dtype)
        W_s = T.alloc_shared((block_N, step // 8), "int32")
        S_s = T.alloc_shared((block_N * each,), stored)
        B_l = T.alloc_fragment((block_N, step), dtype)
        T.clear(C_l)
        for k in T.Pipelined(T.min(steps, K // step - first), num_stages=num_stages):
            T.copy(W[bx * block_N, (first + k) * (step // 8)], W_s)
            T.copy(S[first + k, bx * block_N * each], S_s)
            T.copy(A[by * block_M, (first + k) * step], A_s)
            for i, j in T.Parallel(block_N, step // 2):
                word = T.cast(W_s[i, j % 4 * 4 + j // 16], "uint32") >> (j // 4 % 4 * 4)
                scale = factor(S_s[i * each + 2 * j * each // step])
                B_l[i, 2 * j] = value(word) * scale
                B_l[i, 2 * j + 1] = value(word >> 16) * scale
            T.gemm(B_l, A_s, C_l, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        W: T.Tensor((N, K // 8), "int32"),
        S: T.Tensor((K // step, N * each), stored),
        C: T.Tensor((M, N), dtype),
    ):
        if splits == 1:
            with T.Kernel(nx, ny, threads=threads) as (bx, by):
                C_l = T.alloc_fragment((block_N, block_M), "float32")
                C_s = T.alloc_shared((block_M, block_N), dtype)
                multiply(A, W, S, C_l, bx, by, 0)
                for i, j in T.Parallel(block_N, block_M):
                    C_s[j, i] = C_l[i, j]
                T.copy(C_s, C[by * block_M, bx * block_N])
        else:
            part = T.alloc_global((nx * ny, splits, block_M, block_N), "float32")
            with T.ClusterKernel(nx, ny, splits, cluster_dims=(1, 1, splits), threads=threads) as (bx, by, bz):
                C_l = T.alloc_fragment((block_N, block_M), "float32")
                total = T.alloc_fragment((own, block_N), "float32")
                multiply(A, W, S, C_l, bx, by, bz * steps)
                tile = by * nx + bx
                for i, j in T.Parallel(block_N, block_M):
                    part[tile, bz, j, i] = C_l[i, j]
                T.cluster_sync()
                T.clear(total)
                for p in T.unroll(splits):  # always in the same order
                    for i, j in T.Parallel(own, block_N):
                        total[i, j] += part[tile, p, bz * own + i, j]
                T.copy(total, C[by * block_M + bz * own, bx * block_N])

    return main


# ---- python3 examples/w4a16_gemm.py --------------------------------------------------------------

def pack(codes):
    """Codes of 4 bits, N x K, as words."""
    import numpy as np

    N, K = codes.shape
    x = codes.reshape(N, K // 128, 4, 4, 4, 2).astype("uint32")  # of 128: 32, 8, thread, one of a pair
    shift = 4 * np.arange(4)[:, None, None] + 16 * np.arange(2)
    words = (x << shift.astype("uint32")).sum((3, 5), dtype="uint32")
    return words.swapaxes(2, 3).reshape(N, K // 8).view("int32")


def problem(M, N, K, kind, dtype="float16"):
    """Inputs, and the matrix that the weights stand for."""
    import numpy as np
    from tilelang.script import integers, normal

    A, codes = normal(M, K, dtype=dtype), integers(0, 16, N, K, dtype="uint8")
    if kind == "int4":
        S = abs(normal(K // 128, N, dtype=dtype))
        B = (codes - 8.0) * S.T.repeat(128, 1)
    else:
        S = integers(120, 130, K // 128, N * 4, dtype="uint8")
        power = 2.0 ** (S.reshape(K // 128, N, 4).swapaxes(0, 1).reshape(N, K // 32) - 127.0)
        value = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        B = value[codes & 7] * (1.0 - (codes >> 3) * 2.0) * power.repeat(32, 1)
    return [A, pack(codes), S], B.astype(dtype)


def verify(M=16, N=256, K=512):
    from tilelang.script import check

    fine = True
    for kind in ("int4", "mxfp4"):
        inputs, B = problem(M, N, K, kind)
        fine &= check(w4a16_gemm(M, N, K, kind=kind), inputs, inputs[0].astype("float64") @ B.astype("float64").T)
    return fine


def bench(M=16, N=1024, K=2048, kind="int4"):
    from tilelang.script import timed

    timed(w4a16_gemm(M, N, K, kind=kind), problem(M, N, K, kind)[0], 2 * M * N * K)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
