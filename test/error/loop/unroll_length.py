# stage: compile
import tilelang
import tilelang.language as T


@T.prim_func
def main(n: T.int32, A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        for i in T.unroll(n, explicit=True):  # error: unroll-length
            A[i] = 1
