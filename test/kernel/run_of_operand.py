# A tile that one bulk copy without a box fills and a product reads: its rows stay in order.
# verify:
# verify: stages=0
# verify: stages=2
import tilelang
import tilelang.language as T


@tilelang.jit
def operand(stages=1, M=127, K=12, N=32, rounds=4):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((3 * K, N), "float32"), X: T.Tensor((8 * rounds, 64), "float16"),
             C: T.Tensor((3, M, N), "float32"), Y: T.Tensor((3, 8, 64), "float32")):
        with T.Kernel(3, threads=256) as bx:
            a = T.alloc_shared((M, K), "float32")
            b = T.alloc_shared((K, N), "float32")
            c = T.alloc_fragment((M, N), "float32")
            x = T.alloc_shared((8, 64), "float16")
            y = T.alloc_fragment((8, 64), "float32")
            T.copy(A, a)
            T.copy(B[bx * K, 0], b)
            T.gemm(a, b, c, clear_accum=True)
            T.clear(y)
            for k in T.Pipelined(rounds, num_stages=stages):
                T.copy(X[k * 8, 0], x)
                for i, j in T.Parallel(8, 64):
                    y[i, j] += T.cast(x[i, j], "float32")
            T.copy(c, C[bx, 0, 0])
            T.copy(y, Y[bx, 0, 0])

    return main
