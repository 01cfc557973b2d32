import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        S = T.alloc_shared((64,), "float32")
        T.copy(X, S)
        for i in T.Parallel(63):
            S[i] = S[i + 1]  # warning: parallel-race
        T.copy(S, X)
