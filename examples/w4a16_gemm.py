"""C = A @ W.T with activations in 16 bits and weights in 4, laid out for matrix units: W4A16 and MXFP4.

    tl verify examples/w4a16_gemm.py M=16 N=128 K=256
    tl verify examples/w4a16_gemm.py M=16 N=128 K=256 kind=mxfp4

Weights are the left operand, straight from registers; the tile is transposed, rows of W are its rows.
A word holds what one thread needs of 32 in a row: of each eight the same two, which lie 16 bits apart;
the four words of a thread for 128 in a row lie together.  pack() makes the words.
All rows' words for 128 of K lie together, and so do their scales: K / 128 x N x 4 x 4, K / 128 x N (x 4).
K is a multiple of 128.

few_rows is for so few rows that reading W is all that counts: the blocks of a cluster (Hopper) share the steps of
a tile, and several clusters lie on a multiprocessor.
"""
import tilelang
import tilelang.language as T

STEP = 128  # of K; its scales lie together: one for each row, or one for each 32


def coding(kind):
    """How many scales a step has and as what, and what makes numbers of words and of scales."""

    def halves(word, e):
        """Of the e-th 4 bits and those 16 bits on: floats that a sum or a product makes the numbers of."""
        if kind == "int4":  # 1024 + w and 64 + w are floats that end in the bits of w, 4 bits apart
            word = word >> 8 if e >= 2 else word
            if e % 2 == 0:
                return word & T.uint32(0x000F000F) | T.uint32(0x64006400)
            return word & T.uint32(0x00F000F0) | T.uint32(0x54005400)
        low, sign = 9 - 4 * e, 12 - 4 * e  # how far the bits are from where a float has them
        moved = word << low if low > 0 else word >> -low
        return moved & T.uint32(0x0E000E00) | (word << sign) & T.uint32(0x80008000)

    def number(half, j):
        """Of element j of a row."""
        if kind == "int4":
            return half - T.if_then_else(j // 8 % 2 == 0, T.float16(1032), T.float16(72))
        return half * T.float16(2**14)

    def factor(scale):
        """Of a group: itself, or a power of two by its exponent."""
        if kind == "int4":
            return scale
        return T.cast(T.reinterpret(T.cast(scale, "uint32") << 23, "float32"), "float16")

    return (1, "float16") if kind == "int4" else (4, "uint8"), halves, number, factor


@tilelang.jit(out_idx=[-1])
def w4a16_gemm(M=16, N=256, K=512, kind="int4", block_M=None, block_N=None, num_stages=None, threads=None):
    (each, stored), halves, number, factor = coding(kind)
    block_M, block_N = block_M or min(-(-M // 16) * 16, 256), block_N or (64 if M <= 128 else 128)
    num_stages, threads = num_stages or (4 if block_M <= 128 else 2), threads or block_N * 2

    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float16"),
        W: T.Tensor((K // STEP, N, 4, 4), "int32"),
        S: T.Tensor((K // STEP, N * each), stored),
        C: T.Tensor((M, N), "float16"),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            A_s = T.alloc_shared((block_M, STEP), "float16")
            W_s = T.alloc_shared((block_N, 4, 4), "int32")
            S_s = T.alloc_shared((block_N * each,), stored)
            pairs = T.alloc_fragment((block_N, 4, 4, 4), "uint32")
            B_l = T.view(pairs, (block_N, STEP), "float16")
            C_l = T.alloc_fragment((block_N, block_M), "float32")
            C_s = T.alloc_shared((block_M, block_N), "float16")
            T.clear(C_l)
            for k in T.Pipelined(K // STEP, num_stages=num_stages):
                T.copy(W[k, bx * block_N, 0, 0], W_s)
                T.copy(S[k, bx * block_N * each], S_s)
                T.copy(A[by * block_M, k * STEP], A_s)
                for e in (0, 1, 2, 3):
                    for i, w, t in T.Parallel(block_N, 4, 4):
                        pairs[i, w, e, t] = halves(T.cast(W_s[i, t, w], "uint32"), e)
                for i, j in T.Parallel(block_N, STEP):
                    B_l[i, j] = number(B_l[i, j], j) * factor(S_s[i * each + j * each // STEP])
                T.gemm(B_l, A_s, C_l, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_N, block_M):
                C_s[j, i] = C_l[i, j]
            T.copy(C_s, C[by * block_M, bx * block_N])

    return main


@tilelang.jit(out_idx=[-1])
def few_rows(M=16, N=256, K=1024, kind="int4", block_N=64, splits=1, num_stages=6, threads=None):
    """splits: blocks of a cluster, each with a part of K."""
    (each, stored), halves, number, factor = coding(kind)
    block_M, threads = 8 if M <= 8 else -(-M // 16) * 16, threads or block_N * 2
    nx, own, steps = T.ceildiv(N, block_N), block_M // splits, K // STEP // splits  # own: rows that a block adds up
    assert K % (STEP * splits) == 0 and block_M % splits == 0

    @T.macro
    def multiply(A, W, S, C_l, bx, first):
        A_s = T.alloc_shared((block_M, STEP), "float16")
        W_s = T.alloc_shared((block_N, 4, 4), "int32")
        S_s = T.alloc_shared((block_N * each,), stored)
        pairs = T.alloc_fragment((block_N, 4, 4, 4), "uint32")
        B_l = T.view(pairs, (block_N, STEP), "float16")
        part = T.alloc_fragment((block_N, block_M), "float32")
        T.clear(C_l)
        for k in T.Pipelined(steps, num_stages=num_stages):
            T.copy(W[first + k, bx * block_N, 0, 0], W_s)
            T.copy(S[first + k, bx * block_N * each], S_s)
            T.copy(A[0, (first + k) * STEP], A_s)
            for e in (0, 1, 2, 3):
                for i, w, t in T.Parallel(block_N, 4, 4):
                    pairs[i, w, e, t] = halves(T.cast(W_s[i, t, w], "uint32"), e)
            if each == 1:  # sums are scaled, not weights
                for i, j in T.Parallel(block_N, STEP):
                    B_l[i, j] = number(B_l[i, j], j)
                T.gemm(B_l, A_s, part, transpose_B=True, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(block_N, block_M):
                    C_l[i, j] += part[i, j] * T.cast(S_s[i], "float32")
            else:
                for i, j in T.Parallel(block_N, STEP):
                    B_l[i, j] = number(B_l[i, j], j) * factor(S_s[i * each + j * each // STEP])
                T.gemm(B_l, A_s, C_l, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)

    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float16"),
        W: T.Tensor((K // STEP, N, 4, 4), "int32"),
        S: T.Tensor((K // STEP, N * each), stored),
        C: T.Tensor((M, N), "float16"),
    ):
        if splits == 1:
            with T.Kernel(nx, threads=threads) as bx:
                C_l = T.alloc_fragment((block_N, block_M), "float32")
                C_s = T.alloc_shared((block_M, block_N), "float16")
                multiply(A, W, S, C_l, bx, 0)
                for i, j in T.Parallel(block_N, block_M):
                    C_s[j, i] = C_l[i, j]
                T.copy(C_s, C[0, bx * block_N])
        else:
            sums = T.alloc_global((nx, splits, block_M, block_N), "float32")
            with T.ClusterKernel(nx, splits, cluster_dims=(1, splits, 1), threads=threads) as (bx, bz):
                C_l = T.alloc_fragment((block_N, block_M), "float32")
                total = T.alloc_fragment((own, block_N), "float32")
                multiply(A, W, S, C_l, bx, bz * steps)
                for i, j in T.Parallel(block_N, block_M):
                    sums[bx, bz, j, i] = C_l[i, j]
                T.cluster_sync()
                T.clear(total)
                for p in T.unroll(splits):  # always in the same order
                    for i, j in T.Parallel(own, block_N):
                        total[i, j] += sums[bx, p, bz * own + i, j]
                T.copy(total, C[bz * own, bx * block_N])

    return main


# ---- python3 examples/w4a16_gemm.py --------------------------------------------------------------

def pack(codes):
    """Codes of 4 bits, N x K, as words, K / 128 x N x 4 x 4."""
    import numpy as np

    N, K = codes.shape
    x = codes.reshape(N, K // 128, 4, 4, 4, 2).astype("uint32")  # of 128: 32, 8, thread, one of a pair
    shift = 4 * np.arange(4)[:, None, None] + 16 * np.arange(2)
    words = (x << shift.astype("uint32")).sum((3, 5), dtype="uint32")
    return np.ascontiguousarray(words.transpose(1, 0, 3, 2)).view("int32")


def problem(M, N, K, kind):
    """Inputs, and the matrix that the weights stand for."""
    import numpy as np
    from tilelang.script import integers, normal

    A, codes = normal(M, K, dtype="float16"), integers(0, 16, N, K, dtype="uint8")
    if kind == "int4":
        S = abs(normal(K // 128, N, dtype="float16"))
        B = (codes - 8.0) * S.T.repeat(128, 1)
    else:
        S = integers(120, 130, K // 128, N * 4, dtype="uint8")
        power = 2.0 ** (S.reshape(K // 128, N, 4).swapaxes(0, 1).reshape(N, K // 32) - 127.0)
        value = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        B = value[codes & 7] * (1.0 - (codes >> 3) * 2.0) * power.repeat(32, 1)
    return [A, pack(codes), S], B.astype("float16")


def verify(M=16, N=256, K=512):
    from tilelang.script import check

    fine = True
    for kind in ("int4", "mxfp4"):
        inputs, B = problem(M, N, K, kind)
        want = inputs[0].astype("float64") @ B.astype("float64").T
        fine &= check(w4a16_gemm(M, N, K, kind), inputs, want)
        if M <= 64:
            fine &= check(few_rows(M, N, K, kind), inputs, want)
    return fine


def bench(M=16, N=1024, K=2048, kind="int4"):
    from tilelang.script import timed

    make = few_rows if M <= 64 else w4a16_gemm
    timed(make(M, N, K, kind), problem(M, N, K, kind)[0], 2 * M * N * K)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
