import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 32), "float32")):
    with T.Kernel(1, threads=128) as bx:
        x = T.alloc_fragment((64, 32), "float32")
        m = T.alloc_fragment((32,), "float32")
        T.copy(A, x)
        T.clear(m)
        for i, j in T.Parallel(64, 32):
            x[i, j] = x[i, j] - m[i]  # error: out-of-bounds
        T.copy(x, A)
