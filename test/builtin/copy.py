"""Copies: elements as starts, ranks that differ, repeated sources, views, transposes."""
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((3, 40, 24), "float32"), B: T.Tensor((40, 24), "float32"),
         C: T.Tensor((24, 40), "float16"), D: T.Tensor((16, 24), "float32"),
         E: T.Tensor((8, 6), "int32")):
    with T.Kernel(3, threads=64) as bz:
        S = T.alloc_shared((16, 24), "float32")
        R = T.alloc_shared((24, 16), "float32")
        for k in T.serial(3):
            T.copy(A[bz, k * 16, 0], S)
            if bz == 1:
                T.copy(S, B[k * 16, 0])
            T.transpose(S, R)
            if bz == 2:
                T.copy(R, C[0, k * 16])
        if bz == 0:
            T.copy(A[1, 5:6, 0:24], D)
            F = T.alloc_shared((48,), "int32")
            T.fill(F, 7)
            V = T.reshape(F, (8, 6))
            T.copy(A[0, 0, 0], V[0, 0])
            T.copy(V, E)


@T.prim_func
def reference(A: T.Tensor((3, 40, 24), "float32"), B: T.Tensor((40, 24), "float32"),
              C: T.Tensor((24, 40), "float16"), D: T.Tensor((16, 24), "float32"),
              E: T.Tensor((8, 6), "int32")):
    with T.Kernel(1, threads=64) as bz:
        for i, j in T.grid(40, 24):
            B[i, j] = A[1, i, j]
            C[j, i] = A[2, i, j]
        for i, j in T.grid(16, 24):
            D[i, j] = A[1, 5, j]
        for i, j in T.grid(8, 6):
            E[i, j] = 7
        E[0, 0] = T.cast(A[0, 0, 0], "int32")
