"""Products: transposed operands, run-time clear_accum, slices as operands, int8, dp4a."""
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((32, 48), "float32"), B: T.Tensor((48, 16), "float32"),
         C: T.Tensor((32, 16), "float32"), P: T.Tensor((8, 4), "int8"), Q: T.Tensor((16, 4), "int8"),
         X: T.Tensor((8, 16), "int32"), Y: T.Tensor((8,), "int32")):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_shared((2, 16, 32), "float32")
        b = T.alloc_shared((16, 16), "float32")
        c = T.alloc_fragment((32, 16), "float32")
        for k in T.serial(3):
            T.copy(B[k * 16, 0], b)
            for i, j in T.Parallel(16, 32):
                a[1, i, j] = A[j, k * 16 + i]
            T.gemm(a[1, :, :], b, c, transpose_A=True, clear_accum=k == 0)
        T.copy(c, C)
        p = T.alloc_shared((8, 4), "int8")
        q = T.alloc_shared((16, 4), "int8")
        x = T.alloc_fragment((8, 16), "int32")
        T.copy(P, p)
        T.copy(Q, q)
        T.clear(x)
        T.gemm(p, q, x, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
        T.copy(x, X)
        for i in T.serial(8):
            Y[i] = i
            T.dp4a(P[i, 0], Q[i, 0], Y[i])


@T.prim_func
def reference(A: T.Tensor((32, 48), "float32"), B: T.Tensor((48, 16), "float32"),
              C: T.Tensor((32, 16), "float32"), P: T.Tensor((8, 4), "int8"),
              Q: T.Tensor((16, 4), "int8"), X: T.Tensor((8, 16), "int32"), Y: T.Tensor((8,), "int32")):
    with T.Kernel(1, threads=128) as bx:
        for i, j in T.grid(32, 16):
            C[i, j] = 0
            for k in T.serial(48):
                C[i, j] += A[i, k] * B[k, j]
        for i, j in T.grid(8, 16):
            X[i, j] = 0
            for k in T.serial(4):
                X[i, j] += T.cast(P[i, k], "int32") * T.cast(Q[j, k], "int32")
        for i in T.serial(8):
            Y[i] = i
            for k in T.serial(4):
                Y[i] += T.cast(P[i, k], "int32") * T.cast(Q[i, k], "int32")
