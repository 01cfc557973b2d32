import tilelang
import tilelang.language as T


class Config:
    block = 32


@tilelang.jit
def factory(which=5):
    block = Config().blocks  # error: no-attribute

    @T.prim_func
    def main(X: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            X[0] = block

    return main
