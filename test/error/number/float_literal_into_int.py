import tilelang
import tilelang.language as T


@T.prim_func
def main(I: T.Tensor((64,), "int32")):
    with T.Kernel(4, threads=128) as bx:
        I[0] = 1.5  # warning: constant-range
