# stage: compile
import tilelang
import tilelang.language as T


@T.prim_func
def main(n: T.Tensor((1,), "int32"), A: T.Tensor((64,), "float32")):
    with T.Kernel(n[0], threads=32) as bx:  # error: grid-load
        A[bx] = 1
