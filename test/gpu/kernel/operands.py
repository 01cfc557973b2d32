# How lanes of a wave read operands of MMAs: test/gpu/hip.sh verifies this and looks into the machine code.
import tilelang.language as T


def gemm(ta=False, tb=False, pack=1, stages=2, dtype="float16", accum="float32", M=128, N=128, K=128, bm=64, bn=64, bk=64):
    @T.prim_func
    def main(A: T.Tensor((K, M) if ta else (M, K), dtype), B: T.Tensor((N, K) if tb else (K, N), dtype),
             C: T.Tensor((M, N), accum)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=256) as (bx, by):
            a = T.alloc_shared((bk, bm) if ta else (bm, bk), dtype)
            b = T.alloc_shared((bn, bk) if tb else (bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), accum)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
                if ta:
                    T.copy(A[k * bk, by * bm], a)
                else:
                    T.copy(A[by * bm, k * bk], a)
                if tb:
                    T.copy(B[bx * bn, k * bk], b)
                else:
                    T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c, transpose_A=ta, transpose_B=tb, k_pack=pack)
            T.copy(c, C[by * bm, bx * bn])

    return main
