# Words that a fragment's halves are seen in: pairs by bits, then arithmetic of two at a time, then an MMA that reads them.
# verify: :product
# verify: :product N=40 ahead=2
# verify: :arithmetic
# verify: :arithmetic N=50
# verify: :seen_twice
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def product(M=16, N=64, K=256, ahead=1, threads=128):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), W: T.Tensor((K // 128, N, 4, 4), "int32"), C: T.Tensor((N, M), "float32")):
        with T.Kernel(T.ceildiv(N, 64), threads=threads) as bx:
            a = T.alloc_shared((M, 128), "float16")
            words = T.alloc_fragment((ahead, 64, 4, 4), "int32")
            pairs = T.alloc_fragment((64, 4, 4, 4), "uint32")
            b = T.view(pairs, (64, 128), "float16")
            groups = T.view(pairs, (64, 4, 32), "float16")
            c = T.alloc_fragment((64, M), "float32")
            T.clear(c)
            for k in T.serial(K // 128):
                T.copy(A[0, k * 128], a)
                for i, t, w in T.Parallel(64, 4, 4):
                    words[k % ahead, i, t, w] = W[k, bx * 64 + i, t, w]
                for i, w, e, t in T.Parallel(64, 4, 4, 4):
                    pairs[i, w, e, t] = (T.cast(words[k % ahead, i, t, w], "uint32") >> (e * 4)) & T.uint32(0x000F000F) | T.uint32(0x64006400)
                for i, w, j in T.Parallel(64, 4, 32):
                    groups[i, w, j] = (groups[i, w, j] - T.float16(1032)) * T.float16(0.25)
                T.gemm(b, a, c, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
            T.copy(c, C[bx * 64, 0])

    return main


@tilelang.jit(out_idx=[-1])
def arithmetic(M=8, N=64, threads=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), B: T.Tensor((M, N), "float16"), S: T.Tensor((M,), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(1, threads=threads) as bx:
            a = T.alloc_fragment((M, N), "float16")
            T.copy(A, a)
            for i, j in T.Parallel(M, N):
                a[i, j] = (a[i, j] * S[i] + B[i, j]) * T.float16(1.5) - a[i, j] * a[i, j]
            T.copy(a, C)

    return main


@tilelang.jit
def seen_twice():  # words of a layout that follows what is read of its halves
    @T.prim_func
    def main(W: T.Tensor((64, 8), "uint32"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128) as bx:
            w = T.alloc_shared((64, 8), "uint32")
            b = T.alloc_shared((64, 64), "float16")
            pairs = T.alloc_fragment((64, 32), "uint32")
            halves = T.view(pairs, (64, 64), "float16")
            a = T.alloc_fragment((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(W, w)
            T.copy(B, b)
            for i, j in T.Parallel(64, 32):
                pairs[i, j] = w[i, j // 4] >> (j % 4 * 4) & T.uint32(0x000F000F)
            for i, j in T.Parallel(64, 64):
                a[i, j] = halves[i, j] * 2
            T.clear(c)
            T.gemm(a, b, c)
            T.copy(c, C)

    return main
