import tilelang
import tilelang.language as T


@tilelang.jit
def matmul(M=64, block_M=64):  # error: no-such-parameter
    @T.prim_func
    def main(A: T.Tensor((M,), "float32")):
        with T.Kernel(4, threads=32) as bx:
            A[bx] = 0.0
    return main
# given: blockM=64
