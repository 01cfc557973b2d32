import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 32), "float32"), S: T.Tensor((8,), "float32")):
    with T.Kernel(8, threads=128) as bx:
        x = T.alloc_fragment((64, 32), "float32")
        m = T.alloc_fragment((8,), "float32")
        T.copy(A, x)
        for i in T.Parallel(64):
            m[i] = S[bx]  # warning: fragment-grows
        for i, j in T.Parallel(64, 32):
            x[i, j] = x[i, j] - m[i]
        T.copy(x, A)
