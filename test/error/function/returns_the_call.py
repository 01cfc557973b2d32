import tilelang
import tilelang.language as T


@tilelang.jit
def factory(N=64):  # error: not-a-kernel
    @T.prim_func
    def main(X: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            X[0] = 1.0

    return main()
