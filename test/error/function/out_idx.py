import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[3])
def f():  # error: out-idx
    @T.prim_func
    def main(A: T.Tensor((64,), "float32")):
        with T.Kernel(4, threads=32) as bx:
            A[bx] = 0.0
    return main
