import tilelang
import tilelang.language as T


@tilelang.jit
def factory(size=64):
    n = 1
    for i in range(10):
        n = n * 1000000007  # error: int-too-big

    @T.prim_func
    def main(A: T.Tensor((size,), "float32")):
        with T.Kernel(4, threads=32) as bx:
            A[bx] = 0.0

    return main
