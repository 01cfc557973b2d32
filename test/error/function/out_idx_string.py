import tilelang
import tilelang.language as T


@tilelang.jit(out_idx="X")
def factory(N=64):  # error: not-an-int
    @T.prim_func
    def main(X: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            X[0] = 1.0

    return main
