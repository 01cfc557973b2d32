# stage: compile
import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        S = T.alloc_shared((1 << 20, 1 << 30), "float32")  # error: on-chip-bytes
        T.clear(S)
        X[0] = S[0, 0]
