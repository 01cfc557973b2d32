import tilelang
import tilelang.language as T


@tilelang.jit
def factory(N=65):
    @T.prim_func
    def main(X: T.Tensor((N / 2,), "float32")):  # error: bad-extent
        with T.Kernel(1, threads=32) as bx:
            X[0] = 1.0

    return main
