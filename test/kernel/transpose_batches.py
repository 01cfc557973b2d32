# T.transpose swaps the last two dimensions; leading ones go along or are 1.
# verify: :batches
# verify: :batches B=3 M=5 N=7
# verify: :one_of_many
# verify: :past_the_end
import tilelang
import tilelang.language as T


@tilelang.jit
def batches(B=2, M=12, N=20):
    @T.prim_func
    def main(X: T.Tensor((B, M, N), "float32"), Y: T.Tensor((B, N, M), "float32")):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((B, M, N), "float32")
            t = T.alloc_shared((B, N, M), "float32")
            T.copy(X, s)
            T.transpose(s, t)
            T.copy(t, Y)

    return main


@tilelang.jit
def one_of_many(B=4, M=8, N=16):
    @T.prim_func
    def main(X: T.Tensor((B, M, N), "float16"), Y: T.Tensor((N, M), "float32")):
        with T.Kernel(1, threads=32) as bx:
            t = T.alloc_shared((N, M), "float32")
            T.transpose(X[2, 0:M, 0:N], t)
            T.copy(t, Y)

    return main


@tilelang.jit
def past_the_end():
    @T.prim_func
    def main(X: T.Tensor((2, 3, 4), "float32"), Y: T.Tensor((2, 4, 3), "float32")):
        with T.Kernel(1) as bx:
            T.fill(Y, -1.0)
            T.transpose(X[0:2, 0:3, 0:4], Y[0:2, 0:4, bx + 1 : bx + 4])

    return main
