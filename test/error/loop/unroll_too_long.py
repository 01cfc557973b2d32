# stage: compile
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((5000,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        for i in T.unroll(5000, explicit=True):  # error: unroll-too-long
            A[i] = 1
