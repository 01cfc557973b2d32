# Rows of a few elements that are read under a condition: gcc 12 takes one mask for several of them when it unrolls.
# verify: :larger N=612 K=25
import tilelang
import tilelang.language as T


@tilelang.jit
def larger():
    N, K = T.dynamic("N"), T.dynamic("K")

    @T.prim_func
    def main(A: T.Tensor((72, 311), "int8"), B: T.Tensor((N, 45), "int8"), C: T.Tensor((60, K), "int8"), E: T.Tensor((72, 384), "int8"), F: T.Tensor((612, 36), "int8"), G: T.Tensor((59, 29), "int8"), P: T.Tensor((612, 60), "int32"), H: T.Tensor((43, 36), "int8")):
        with T.Kernel(3, 3, threads=224) as (bx, by):
            a = T.alloc_shared((24, 128), "int8")
            b = T.alloc_shared((204, 12), "int8")
            c = T.alloc_shared((20, 12), "int8")
            p = T.alloc_fragment((204, 20), "int32")
            f = T.alloc_fragment((20, 12), "int8")
            T.copy(A[bx * 24, by * 128], a)
            T.copy(B[bx * 204, by * 12], b)
            T.copy(C[bx * 20, by * 12], c)
            T.gemm(b, c, p, transpose_B=True, clear_accum=True)
            for i, j in T.Parallel(20, 12):
                f[i, j] = T.if_then_else(T.abs(a[i, j]) > 1, T.max(b[i, j], c[i, j]), T.cast(7, "int8"))
            for i, j in T.Parallel(24, 128):
                a[i, j] = T.cast(5, "int8")
            T.copy(a, E[bx * 24, by * 128])
            T.copy(b, F[bx * 204, by * 12])
            T.copy(c, G[bx * 20, by * 12])
            T.copy(p, P[bx * 204, by * 20])
            T.copy(f, H[bx * 20, by * 12])

    return main
