# Products of infinities: what is infinite stays so, and nothing else becomes NaN.
# verify: M=20 N=24 K=30
# verify: M=20 N=24 K=30 precision=float32
# verify: M=20 N=24 K=30 dtype=float16
# verify: M=20 N=24 K=30 dtype=bfloat16
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=20, N=24, K=30, bm=32, bn=32, bk=32, dtype="float32", precision=None):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            T.copy(A[0, 0], a)
            T.copy(B[0, 0], b)
            for i, j in T.Parallel(bm, bk):
                a[i, j] = T.if_then_else(i == j, T.infinity(dtype), T.abs(a[i, j]) + 1.0)
            for i, j in T.Parallel(bk, bn):
                b[i, j] = T.abs(b[i, j]) + 1.0
            T.clear(c)
            T.gemm(a, b, c, precision=precision)
            T.copy(c, C[0, 0])

    return main
