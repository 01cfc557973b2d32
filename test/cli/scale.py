import tilelang
import tilelang.language as T

M = T.dynamic("m")
N = T.dynamic("n")

@T.prim_func
def scale(A: T.Tensor((M, N), "bfloat16"), s: T.float32, C: T.Tensor((M, N), "float32")):
    with T.Kernel(T.ceildiv(M, 16), threads=64) as bx:
        for i, j in T.Parallel(16, N):
            if bx * 16 + i < M:
                C[bx * 16 + i, j] = T.cast(A[bx * 16 + i, j], "float32") * s
