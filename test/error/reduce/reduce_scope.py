import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 32), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        b = T.alloc_fragment((64,), "float32")
        T.reduce_sum(A, b, dim=1)  # error: reduce-scope
        T.copy(b, B)
