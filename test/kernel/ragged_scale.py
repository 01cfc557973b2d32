# Rows past the end of a tensor: what one element scales them by is not read there either.
# verify: :scaled
# verify: :asked
# verify: :looked_up
import tilelang
import tilelang.language as T


@tilelang.jit
def scaled(M=100, N=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), S: T.Tensor((M,), "float32"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(M, 64), threads=64) as bx:
            for i, j in T.Parallel(64, N):
                C[bx * 64 + i, j] = A[bx * 64 + i, j] * S[bx * 64 + i]

    return main


@tilelang.jit
def asked(M=100, N=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), S: T.Tensor((M,), "float32"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(M, 64), threads=64) as bx:
            for i, j in T.Parallel(64, N):
                if bx * 64 + i < M:
                    C[bx * 64 + i, j] = A[bx * 64 + i, j] / S[bx * 64 + i]

    return main


@tilelang.jit
def looked_up(M=100, N=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), P: T.Tensor((M,), "int32"), S: T.Tensor((16,), "float32"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(M, 64), threads=64) as bx:
            for i, j in T.Parallel(64, N):
                C[bx * 64 + i, j] = A[bx * 64 + i, j] + S[P[bx * 64 + i] % 16]

    return main
