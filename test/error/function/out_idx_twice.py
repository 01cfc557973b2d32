import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[1, -1])
def f():  # error: out-idx
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(4, threads=32) as bx:
            B[bx] = A[bx]
    return main
