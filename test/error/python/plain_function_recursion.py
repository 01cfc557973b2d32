import tilelang
import tilelang.language as T


def depth(n):
    return depth(n + 1)  # error: too-deep


@tilelang.jit
def factory(N=depth(0)):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            X[0] = 1.0

    return main
