# stage: compile
import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32"), at: T.int32):
    with T.Kernel(4, threads=128) as bx:
        S = T.alloc_shared((64,), "float32")
        T.clear(S)
        for i in T.serial(4):
            X[i] = S[T.if_then_else(i % 32 != 8 - i, -4, at)]  # error: out-of-bounds
