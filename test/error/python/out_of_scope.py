import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=32) as bx:
        if bx > 2:
            v = A[0] + 1.0
        A[1] = v  # error: out-of-scope
