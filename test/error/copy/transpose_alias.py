import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((32, 32), "float32")):
    with T.Kernel(1, threads=32) as bx:
        s = T.alloc_shared((32, 32), "float32")
        T.copy(A, s)
        T.transpose(s, s)  # error: transpose-alias
        T.copy(s, A)
