# A fragment whose elements serve runs of iterations: packed weights, and scales of groups.
# verify: :packed
# verify: :packed dtype=float32 K=48
# verify: :packed threads=256 N=128 bits=2
# verify: :packed bits=1 N=32 K=32
# verify: :scaled
# verify: :scaled group=8
# verify: :scaled group=64 threads=64
# verify: :product
# verify: :product threads=256
# verify: :rows
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def packed(N=64, K=64, bits=4, threads=128, dtype="float16"):
    per = 8 // bits

    @T.prim_func
    def main(W: T.Tensor((N, K // per), "uint8"), B: T.Tensor((N, K), dtype)):
        with T.Kernel(1, threads=threads) as bx:
            w = T.alloc_fragment((N, K // per), "uint8")
            b = T.alloc_fragment((N, K), dtype)
            T.copy(W, w)
            for i, j in T.Parallel(N, K):
                b[i, j] = T.cast((w[i, j // per] >> (j % per * bits)) & ((1 << bits) - 1), dtype)
            T.copy(b, B)

    return main


@tilelang.jit(out_idx=[-1])
def scaled(N=64, K=128, group=32, threads=128):
    @T.prim_func
    def main(X: T.Tensor((N, K), "float16"), S: T.Tensor((N, K // group), "float16"), Y: T.Tensor((N, K), "float16")):
        with T.Kernel(1, threads=threads) as bx:
            x = T.alloc_fragment((N, K), "float16")
            s = T.alloc_fragment((N, K // group), "float16")
            T.copy(X, x)
            T.copy(S, s)
            for i, j in T.Parallel(N, K):
                x[i, j] = x[i, j] * s[i, j // group]
            T.copy(x, Y)

    return main


# The layout that the product asks for goes back to the packed weights.
@tilelang.jit(out_idx=[-1])
def product(M=64, N=128, K=128, threads=128):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), W: T.Tensor((N, K // 2), "uint8"), C: T.Tensor((N, M), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            a = T.alloc_shared((M, 64), "float16")
            w_s = T.alloc_shared((N, 32), "uint8")
            w = T.alloc_fragment((N, 32), "uint8")
            b = T.alloc_fragment((N, 64), "float16")
            c = T.alloc_fragment((N, M), "float32")
            T.clear(c)
            for k in T.Pipelined(K // 64, num_stages=2):
                T.copy(A[0, k * 64], a)
                T.copy(W[0, k * 32], w_s)
                T.copy(w_s, w)
                for i, j in T.Parallel(N, 64):
                    b[i, j] = T.cast((w[i, j // 2] >> (j % 2 * 4)) & 15, "float16") * 0.0625
                T.gemm(b, a, c, transpose_B=True)
            T.copy(c, C)

    return main


# Runs of rows and of columns at once.
@tilelang.jit(out_idx=[-1])
def rows(N=48, K=96, a=4, b=3, threads=96):
    @T.prim_func
    def main(X: T.Tensor((N, K), "float32"), S: T.Tensor((N // a, K // b), "float32"), Y: T.Tensor((N, K), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            s = T.alloc_fragment((N // a, K // b), "float32")
            T.copy(S, s)
            for i, j in T.Parallel(N, K):
                Y[i, j] = X[i, j] * s[i // a, j // b]

    return main
