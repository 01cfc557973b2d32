# Masks that differ among elements of one access: it is made once, and each element chosen.
# verify: :lower
# verify: :lower M=48 N=40
# verify: :band
# verify: :shifted
# verify: :either
# verify: :in_place
# verify: :rows
import tilelang
import tilelang.language as T


@tilelang.jit
def lower(M=64, N=128, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 32), threads=64) as (bx, by):
            for i, j in T.Parallel(32, 64):
                C[by * 32 + i, bx * 64 + j] = T.if_then_else(by * 32 + i >= bx * 64 + j, A[by * 32 + i, bx * 64 + j], T.cast(-2, dtype))

    return main


@tilelang.jit
def band(M=64, N=128):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(M // 16, threads=64) as by:
            for i, j in T.Parallel(16, N):
                row = by * 16 + i
                C[row, j] = T.if_then_else(T.And(j > row, j < row + 3), A[row, j] * 2, 0)

    return main


@tilelang.jit
def shifted(N=512):
    @T.prim_func
    def main(A: T.Tensor((N,), "float16"), C: T.Tensor((N,), "float16"), D: T.Tensor((N,), "float16")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(N):
                C[i] = T.if_then_else(i >= 3, A[i - 3], 0)
            for i in T.Parallel(N):
                D[i] = T.if_then_else(i < N - 8, A[i + 8], T.cast(1, "float16"))

    return main


@tilelang.jit
def either(N=512):
    @T.prim_func
    def main(A: T.Tensor((N,), "int8"), B: T.Tensor((N,), "int8"), K: T.Tensor((1,), "int32"), C: T.Tensor((N,), "int8")):
        with T.Kernel(1, threads=32):
            k = K[0] % N
            for i in T.Parallel(N):
                C[i] = T.if_then_else(T.Or(i < k, i % 5 == 0), A[i], B[i])

    return main


@tilelang.jit
def in_place(N=256):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(N):
                C[i] = A[i] + 1
            for i in T.Parallel(N):
                C[i] = T.if_then_else(i % 3 == 1, C[i], T.cast(0, "float32"))

    return main


@tilelang.jit
def rows(M=40, N=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), L: T.Tensor((M,), "int32"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(M, 32), threads=64) as by:
            for i, j in T.Parallel(32, N):
                C[by * 32 + i, j] = T.if_then_else(j < L[by * 32 + i] % N, A[by * 32 + i, j], 0)

    return main
