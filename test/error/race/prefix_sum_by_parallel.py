import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64) as bx:
        s = T.alloc_shared((64,), "float32")
        T.copy(X, s)
        for i in T.Parallel(63):
            s[i + 1] = s[i + 1] + s[i]  # warning: parallel-race
        T.copy(s, X)
