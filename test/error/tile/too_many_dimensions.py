import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((1, 1, 1, 1, 1, 1, 1, 1, 1), "float32")):  # error: too-many-dimensions
    with T.Kernel(4, threads=32) as bx:
        pass
