# T.Parallel over extents known at run time, with fragments that other operators have laid out.
# verify: :rows
# verify: :both threads=128
# verify: :limit
# verify: :limit n=5 M=7
import tilelang
import tilelang.language as T


# As many rows as the block has a number.
@tilelang.jit
def rows(threads=64):
    @T.prim_func
    def main(A: T.Tensor((16, 32), "float32"), B: T.Tensor((16, 32), "float32")):
        with T.Kernel(4, threads=threads) as bx:
            x = T.alloc_fragment((4, 32), "float32")
            T.copy(A[bx * 4, 0], x)
            for i, j in T.Parallel(bx, 32):
                x[i, j] = x[i, j] + 1.0
            T.copy(x, B[bx * 4, 0])

    return main


@tilelang.jit
def both(threads=64):
    @T.prim_func
    def main(A: T.Tensor((16, 32), "float32"), B: T.Tensor((16, 32), "float32")):
        with T.Kernel(4, threads=threads) as bx:
            x = T.alloc_fragment((4, 32), "float32")
            m = T.alloc_fragment((4,), "float32")
            T.copy(A[bx * 4, 0], x)
            T.reduce_max(x, m, dim=1)
            for i, j in T.Parallel(bx + 1, bx * 8 + 3):
                x[i, j] = x[i, j] - m[i]
            T.copy(x, B[bx * 4, 0])

    return main


@tilelang.jit
def limit(n=3, M=8):
    @T.prim_func
    def main(A: T.Tensor((M, 40), "float32"), B: T.Tensor((M, 40), "float32")):
        with T.Kernel(M, threads=32) as bx:
            x = T.alloc_fragment((40,), "float32")
            T.copy(A[bx, 0], x)
            for j in T.Parallel(T.min(bx * n, 40)):
                x[j] = T.exp(x[j]) + T.cast(bx, "float32")
            T.copy(x, B[bx, 0])

    return main
