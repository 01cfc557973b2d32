import tilelang
import tilelang.language as T


@tilelang.jit
def factory(size=64):
    raise ValueError("wrong block size")  # error: raised

    @T.prim_func
    def main(A: T.Tensor((size,), "float32")):
        with T.Kernel(4, threads=32) as bx:
            A[bx] = 0.0

    return main
