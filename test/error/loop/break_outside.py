import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    for i in range(3):
        with T.Kernel(4, threads=32) as bx:
            if bx > 1:
                break  # error: break-outside
            A[bx] = 0.0
