# stage: compile
import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        for i in T.unroll(1000, explicit=True):
            for j in T.unroll(1000, explicit=True):  # error: unroll-too-long
                for k in T.unroll(1000, explicit=True):
                    X[i] = j * k
