import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        S = T.alloc_fragment((64,), "float32")
        T.clear(S)
        for i in T.Parallel(64):
            T.atomic_add(S[0], X[i])  # error: atomic-scope
