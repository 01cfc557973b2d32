import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=32) as bx:
        n = 0
        for i in T.serial(4):
            n = n + 1  # warning: compile-time-update
            A[n] = 0.0
