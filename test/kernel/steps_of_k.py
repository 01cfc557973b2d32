# k_pack: GPUs whose lanes load operands for themselves take two steps of k at once; others say that they do not.
# verify: --warns=ignored
# verify: ta=True tb=False threads=64 --warns=ignored
# verify: dtype=bfloat16 M=17 bm=16 bn=16 bk=64 threads=32 --warns=ignored
# verify: dtype=float32 N=33 tb=False --warns=ignored
# verify: dtype=int8 accum=int32 bk=64 M=70 --warns=ignored
import tilelang
import tilelang.language as T


@tilelang.jit
def main(M=40, N=24, K=128, dtype="float16", accum="float32", ta=False, tb=True, bm=32, bn=32, bk=32, threads=128):
    @T.prim_func
    def product(A: T.Tensor((K, M) if ta else (M, K), dtype), B: T.Tensor((N, K) if tb else (K, N), dtype),
                C: T.Tensor((M, N), accum)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=threads) as (bx, by):
            a = T.alloc_shared((bk, bm) if ta else (bm, bk), dtype)
            b = T.alloc_shared((bn, bk) if tb else (bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), accum)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                if ta:
                    T.copy(A[k * bk, by * bm], a)
                else:
                    T.copy(A[by * bm, k * bk], a)
                if tb:
                    T.copy(B[bx * bn, k * bk], b)
                else:
                    T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c, transpose_A=ta, transpose_B=tb, clear_accum=(k == 0), k_pack=2)
            T.copy(c, C[by * bm, bx * bn])

    return product
