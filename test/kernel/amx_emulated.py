# Products on tile registers, their instructions done in software (device/cpu/amx.h).
# verify: :product
# verify: :product M=1 N=1 K=1 bm=1 bn=1 bk=1
# verify: :product M=15 N=17 K=31 bm=15 bn=17 bk=31
# verify: :product M=33 N=49 K=65 bm=33 bn=49 bk=65
# verify: :product M=100 N=130 K=140 bm=48 bn=64 bk=48
# verify: :product M=97 N=95 K=129 bm=64 bn=96 bk=64 tb=True
# verify: :product M=40 N=50 K=70 bm=40 bn=50 bk=35 ta=True
# verify: :product M=47 N=33 K=96 bm=32 bn=33 bk=32 ta=True tb=True
# verify: :product M=100 N=130 K=140 bm=100 bn=130 bk=140
# verify: :product dtype=int8 accum=int32
# verify: :product M=100 N=130 K=140 bm=70 bn=130 bk=140 dtype=int8 accum=int32
# verify: :product M=15 N=17 K=31 bm=15 bn=17 bk=31 dtype=int8 accum=int32
# verify: :product M=100 N=130 K=140 bm=48 bn=64 bk=48 dtype=int8 accum=int32
# verify: :product M=97 N=95 K=129 bm=64 bn=96 bk=64 tb=True dtype=int8 accum=int32
# verify: :product M=40 N=50 K=70 bm=40 bn=50 bk=35 ta=True dtype=int8 accum=int32
import tilelang
import tilelang.language as T


@tilelang.jit
def product(M=64, N=96, K=128, bm=32, bn=48, bk=64, dtype="bfloat16", accum="float32", ta=False, tb=False):
    a = (K, M) if ta else (M, K)
    b = (N, K) if tb else (K, N)

    @T.prim_func
    def main(A: T.Tensor(a, dtype), B: T.Tensor(b, dtype), C: T.Tensor((M, N), accum)):
        T.annotate_compile_flags("-DTL_AMX_EMULATED")
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            A_s = T.alloc_shared((bk, bm) if ta else (bm, bk), dtype)
            B_s = T.alloc_shared((bn, bk) if tb else (bk, bn), dtype)
            C_l = T.alloc_fragment((bm, bn), accum)
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                if ta:
                    T.copy(A[k * bk, by * bm], A_s)
                else:
                    T.copy(A[by * bm, k * bk], A_s)
                if tb:
                    T.copy(B[bx * bn, k * bk], B_s)
                else:
                    T.copy(B[k * bk, bx * bn], B_s)
                T.gemm(A_s, B_s, C_l, transpose_A=ta, transpose_B=tb)
            T.copy(C_l, C[by * bm, bx * bn])

    return main
