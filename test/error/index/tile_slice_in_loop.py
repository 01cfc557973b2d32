import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=64) as bx:
        s = T.alloc_shared((64, 64), "float32")
        for k in T.serial(5):
            T.copy(A[0, 0], s[k * 16 : k * 16 + 16, 0:64])  # error: out-of-bounds
        T.copy(s, A)
