import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def f(A: T.Tensor((64,), "float32")):  # error: out-idx-eager
    with T.Kernel(4, threads=32) as bx:
        A[bx] = 0.0
