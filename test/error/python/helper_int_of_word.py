import tilelang
import tilelang.language as T


@tilelang.jit
def factory(N="sixty-four"):
    n = int(N)  # error: bad-number

    @T.prim_func
    def main(X: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            X[0] = n

    return main
