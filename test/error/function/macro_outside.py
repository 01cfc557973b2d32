import tilelang
import tilelang.language as T


@T.macro
def zero(A):
    T.clear(A)


@tilelang.jit
def f(n=4):
    zero(n)  # error: macro-outside
    @T.prim_func
    def main(A: T.Tensor((64,), "float32")):
        with T.Kernel(4, threads=32) as bx:
            A[bx] = 0.0
    return main
