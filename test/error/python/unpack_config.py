import tilelang
import tilelang.language as T


@tilelang.jit
def factory(N=64):
    a, b, c = (1, 2)  # error: unpack-count

    @T.prim_func
    def main(X: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            X[0] = a

    return main
