import tilelang
import tilelang.language as T


@tilelang.jit
def factory(N=64):
    n = len(N)  # error: operand-types

    @T.prim_func
    def main(X: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            X[0] = n

    return main
