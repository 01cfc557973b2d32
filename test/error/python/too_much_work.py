import tilelang
import tilelang.language as T


@tilelang.jit
def factory(size=64):
    n = 0
    while n < 1000000000: n += 1  # error: too-much-work

    @T.prim_func
    def main(A: T.Tensor((size,), "float32")):
        with T.Kernel(4, threads=32) as bx:
            A[bx] = 0.0

    return main
