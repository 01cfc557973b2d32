# What is known of a loop that does not run says nothing outside of it: how far a product goes, which elements are
# inside.
# verify: :beside
# verify: :beside K=13
# verify: :beside whole=True
import tilelang
import tilelang.language as T


# Of rows of H the second block finds none.
@tilelang.jit
def beside(K=29, whole=False):
    @T.prim_func
    def main(
        A: T.Tensor((K, 64), "float32"),
        B: T.Tensor((32, 16), "float32"),
        H: T.Tensor((3, 1), "float16"),
        P: T.Tensor((2, 3, 3), "float16"),
        C: T.Tensor((2, 64, 16), "float32"),
    ):
        with T.Kernel(2, threads=128) as bx:
            a = T.alloc_shared((16, 64), "float32")
            b = T.alloc_shared((16, 16), "float32")
            c = T.alloc_fragment((64, 16), "float32")
            h = T.alloc_shared((3, 3), "float16")
            T.copy(A[bx * 16, 0], a)
            T.copy(B[bx * 16, 0], b)
            if whole:
                for i, j in T.Parallel(16, 16):
                    b[i, j] = b[i, j] + 1
            T.clear(c)
            T.gemm(a, b, c, transpose_A=True, transpose_B=True)
            T.copy(H[bx * 3, 0], h)
            T.copy(h, P[bx, 0, 0])
            T.copy(c, C[bx, 0, 0])

    return main
