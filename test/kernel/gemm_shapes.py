# Matrix products: every transposition, odd tiles, ragged edges, every dtype.
# verify: M=1 N=1 K=1
# verify: M=33 N=47 K=65
# verify: M=50 N=70 K=90 bm=24 bn=40 bk=48
# verify: M=97 N=95 K=31 bm=96 bn=96 bk=24
# verify: M=100 N=100 K=100 bm=40 bn=24 bk=96
# verify: M=17 N=5 K=129 bm=8 bn=8 bk=64
# verify: M=40 N=48 K=56 ta=True
# verify: M=41 N=47 K=57 tb=True
# verify: M=39 N=49 K=55 ta=True tb=True
# verify: M=37 N=53 K=61 ta=True tb=True bm=24 bn=48 bk=40
# verify: M=33 N=40 K=70 dtype=float64 accum=float64
# verify: M=33 N=40 K=70 dtype=float16
# verify: M=33 N=40 K=70 dtype=float16 accum=float16 --warns=narrow-accumulator
# verify: M=33 N=40 K=70 dtype=bfloat16 tb=True
# verify: M=33 N=40 K=71 dtype=bfloat16 bk=40
# verify: M=33 N=40 K=70 dtype=float8_e4m3fn
# verify: M=33 N=40 K=70 dtype=float8_e5m2 tb=True
# verify: M=33 N=40 K=70 dtype=tfloat32
# verify: M=33 N=40 K=70 dtype=int8 accum=int32
# verify: M=33 N=40 K=71 dtype=int8 accum=int32 tb=True bk=24
# verify: M=33 N=40 K=70 dtype=uint8 accum=int32
# verify: M=33 N=40 K=70 dtype=int8 accum=int32 ta=True
# verify: M=33 N=40 K=70 dtype=int16 accum=int32 --warns=slow-gemm
# verify: M=33 N=40 K=70 dtype=int32 accum=int32 --warns=slow-gemm
# verify: M=33 N=40 K=70 dtype=float4_e2m1fn --warns=slow-gemm
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=64, N=64, K=64, bm=32, bn=32, bk=32, ta=False, tb=False, dtype="float32", accum="float32", stages=2,
         precision=None):
    @T.prim_func
    def main(
        A: T.Tensor((K, M) if ta else (M, K), dtype),
        B: T.Tensor((N, K) if tb else (K, N), dtype),
        C: T.Tensor((M, N), accum),
    ):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
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
                T.gemm(a, b, c, transpose_A=ta, transpose_B=tb, precision=precision)
            T.copy(c, C[by * bm, bx * bn])

    return main
