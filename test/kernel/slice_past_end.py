# A slice that reaches past the end of a tensor reads 0 there and stores nothing.
# verify: --warns=slice-range
# verify: M=40 N=24 --warns=slice-range
import tilelang
import tilelang.language as T


@tilelang.jit
def past_end(M=20, N=50, bm=64, bn=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32"), S: T.Tensor((bm,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((bm, bn), "float32")
            f = T.alloc_fragment((bm, bn), "float32")
            total = T.alloc_fragment((bm,), "float32")
            T.copy(A[0:bm, 0:bn], a)
            T.copy(a, f)
            T.reduce_sum(f, total, dim=1)
            T.copy(f, B[0:bm, 0:bn])
            T.copy(total, S)

    return main
