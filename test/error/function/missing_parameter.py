import tilelang
import tilelang.language as T


@tilelang.jit
def matmul(M, N, block=64):  # error: missing-parameter
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32")):
        with T.Kernel(4, threads=32) as bx:
            A[bx, 0] = 0.0
    return main
# given: M=64
