# Strided tensors and negative indices.
# verify: :rows M=10 N=24
# verify: :rows M=33 N=31
# verify: :transposed M=20 N=30
# verify: :negative N=40
# verify: :slices M=12 N=20
import tilelang
import tilelang.language as T


@tilelang.jit
def rows(M=10, N=24, pad=8):
    @T.prim_func
    def main(X: T.StridedTensor((M, N), (N + pad, 1), "float32"), Y: T.StridedTensor((M, N), (N + 3, 1), "float32")):
        with T.Kernel(T.ceildiv(M, 8), threads=32) as bx:
            s = T.alloc_shared((8, N), "float32")
            T.copy(X[bx * 8, 0], s)
            for i, j in T.Parallel(8, N):
                s[i, j] = s[i, j] * 2
            T.copy(s, Y[bx * 8, 0])

    return main


@tilelang.jit
def transposed(M=20, N=30):
    @T.prim_func
    def main(X: T.StridedTensor((M, N), (1, M), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=32) as bx:
            T.copy(X, Y)

    return main


@tilelang.jit
def negative(N=40):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            s = T.alloc_shared((N,), "float32")
            T.copy(X, s)
            s[-1] = 5
            for i in T.Parallel(N):
                Y[i] = s[i] + X[-2]
            Y[-3] = s[-1]

    return main


@tilelang.jit
def slices(M=12, N=20):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=32) as bx:
            s = T.alloc_shared((M, N), "float32")
            T.copy(X, s)
            T.copy(s[2:-2, :], Y[2:-2, :])
            T.copy(s[-2:, 0:N], Y[0:2, 0:N])
            T.copy(s[0:2, 3:], Y[M - 2 :, : N - 3])

    return main
