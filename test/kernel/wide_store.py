# Large results of 16 bits: they leave through shared memory, in halves or strips of whole rows.
# verify: :wide
# verify: :wide M=130 N=264
# verify: :wide M=100 N=250
# verify: :wide dtype=float32 bn=128
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def wide(M=128, N=256, K=64, bm=128, bn=256, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=256) as (bx, by):
            A_s = T.alloc_shared((bm, 32), "float16")
            B_s = T.alloc_shared((32, bn), "float16")
            C_l = T.alloc_fragment((bm, bn), "float32")
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, 32), num_stages=2):
                T.copy(A[by * bm, k * 32], A_s)
                T.copy(B[k * 32, bx * bn], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * bm, bx * bn])

    return main
