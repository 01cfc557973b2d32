import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32"), C: T.Tensor((32, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        S = T.alloc_shared((64, 64), "float32")
        T.copy(A, S)
        T.copy(S, C)  # error: copy-shape
