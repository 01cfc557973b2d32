"""8. While it is in registers.

A result that is still in the accumulator costs nothing to change.  Make C = relu(A @ B^T + bias),
where B is stored N x K: `T.gemm` has an argument for that, `T.max(x, 0)` is the relu, and the bias
of column j is bias[j].
"""
import tilelang
import tilelang.language as T


@tilelang.jit
def epilogue(M=100, N=90, K=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((N, K), "float32"), bias: T.Tensor((N,), "float32"),
             C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=128) as (bx, by):
            a = T.alloc_shared((64, K), "float32")
            b = T.alloc_shared((64, K), "float32")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A[by * 64, 0], a)
            T.copy(B[bx * 64, 0], b)
            T.clear(c)
            # ---- your turn: the product, then bias and relu
            pass
            # ---- end
            T.copy(c, C[by * 64, bx * 64])

    return main


def check():
    import numpy as np
    from tilelang.script import check, normal

    A, B, bias = normal(100, 64), normal(90, 64), normal(90)
    want = np.maximum(A @ B.T + bias, 0)
    return check(epilogue(), [A, B, bias, np.zeros((100, 90), "float32")], want)


if __name__ == "__main__":
    from tilelang import script

    script.main(check)
