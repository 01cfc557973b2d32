# run: --target="cuda -arch=sm_80"
# expect: parallel nest (line 28): cp.async, 1 iteration ahead
# expect: parallel nest (line 35): cp.async, 1 iteration ahead
# expect: data_s: shared float16[2, 32, 16]
# expect: kernel_s: shared float16[2, 16, 16]
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def convolution(N=1, C=16, H=8, W=8, F=16, K=3, S=1, D=1, P=1, dtype="float16",
                block_M=32, block_N=16, block_K=16):
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
                T.gemm(data_s, kernel_s, out_l)
            for i, j in T.Parallel(block_M, block_N):
                m = by * block_M + i
                out[m // (OH * OW), m % (OH * OW) // OW, m % OW, bx * block_N + j] = out_l[i, j]

    return main
