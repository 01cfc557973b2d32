import tilelang
import tilelang.language as T


@tilelang.jit
def factory(N, M):  # error: missing-parameter
    @T.prim_func
    def main(X: T.Tensor((N, M), "float32")):
        with T.Kernel(1, threads=32) as bx:
            X[0, 0] = 1.0

    return main
