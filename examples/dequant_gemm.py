"""W4A16: activations in 16 bits, weights in 4 bits with a scale for each group of K.

Two unsigned 4-bit weights lie in a byte, low half first; the stored value is w + 8.
A tile of K spans whole groups, or a group spans whole tiles.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def dequant_gemm(M=256, N=512, K=1024, group=128, dtype="float16", block_M=None, block_N=96, block_K=128):
    block_M = block_M or min(M, 256)  # each block of rows unpacks the weights anew

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        W: T.Tensor((N, K // 2), "uint8"),
        S: T.Tensor((N, T.ceildiv(K, group)), dtype),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_s = T.alloc_shared((block_M, block_K), dtype)
            W_s = T.alloc_shared((block_N, block_K // 2), "uint8")
            S_s = T.alloc_shared((block_N, T.ceildiv(block_K, group)), dtype)
            B_l = T.alloc_fragment((block_N, block_K), dtype)
            B_s = T.alloc_shared((block_N, block_K), dtype)
            C_l = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(A[by * block_M, k * block_K], A_s)
                T.copy(W[bx * block_N, k * (block_K // 2)], W_s)
                T.copy(S[bx * block_N, k * block_K // group], S_s)
                for i, j in T.Parallel(block_N, block_K // 2):
                    scale = S_s[i, 2 * j // group]
                    low = T.cast(W_s[i, j] & T.cast(15, "uint8"), "int32") - 8
                    high = T.cast(W_s[i, j] >> T.cast(4, "uint8"), "int32") - 8
                    B_l[i, 2 * j] = low.astype(dtype) * scale
                    B_l[i, 2 * j + 1] = high.astype(dtype) * scale
                T.copy(B_l, B_s)
                T.gemm(A_s, B_s, C_l, transpose_B=True)
            T.copy(C_l, C[by * block_M, bx * block_N])

    return main


# ---- python3 examples/dequant_gemm.py ------------------------------------------------------------

def verify(M=256, N=512, K=1024, group=128):
    import numpy as np
    from tilelang.script import check, integers, normal

    A, W = normal(M, K, dtype="float16"), integers(0, 256, N, K // 2, dtype="uint8")
    S = abs(normal(N, K // group, dtype="float16"))
    codes = np.stack([W & 15, W >> 4], 2).reshape(N, K) - 8.0
    B = (codes * S.repeat(group, 1)).astype("float16").astype("float64")
    return check(dequant_gemm(M, N, K, group), [A, W, S], A.astype("float64") @ B.T)


def bench(M=256, N=1024, K=4096, group=128):
    from tilelang.script import integers, normal, timed

    A, W = normal(M, K, dtype="float16"), integers(0, 256, N, K // 2, dtype="uint8")
    S = abs(normal(N, K // group, dtype="float16"))
    timed(dequant_gemm(M, N, K, group), [A, W, S], 2 * M * N * K)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
