import tilelang
import tilelang.language as T


@tilelang.jit
def factory(dtype=16):
    @T.prim_func
    def main(X: T.Tensor((64,), dtype)):  # error: unknown-dtype
        with T.Kernel(1, threads=32) as bx:
            X[0] = 1.0

    return main
