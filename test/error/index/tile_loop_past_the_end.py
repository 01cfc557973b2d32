import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        S = T.alloc_shared((32,), "float32")
        for i in T.Parallel(64):
            S[i] = X[i]  # error: out-of-bounds
        T.copy(S, X[0:32])
