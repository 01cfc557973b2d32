# Operands of two 8-bit types, from shared memory and from registers.
# verify: M=33 N=40 K=70
# verify: M=33 N=40 K=70 ta="uint8" tb="int8"
# verify: M=17 N=24 K=40 ta="float8_e4m3fn" tb="float8_e5m2" accum="float32"
# verify: M=17 N=24 K=40 ta="float8_e5m2" tb="float8_e4m3fn" accum="float32" registers=True
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=64, N=64, K=64, bm=32, bn=32, bk=32, ta="int8", tb="uint8", accum="int32", registers=False, transposed=False):
    @T.prim_func
    def main(A: T.Tensor((M, K), ta), B: T.Tensor((N, K) if transposed else (K, N), tb), C: T.Tensor((M, N), accum)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), ta)
            af = T.alloc_fragment((bm, bk), ta)
            b = T.alloc_shared((bn, bk) if transposed else (bk, bn), tb)
            c = T.alloc_fragment((bm, bn), accum)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                T.copy(A[by * bm, k * bk], a)
                if transposed:
                    T.copy(B[bx * bn, k * bk], b)
                else:
                    T.copy(B[k * bk, bx * bn], b)
                if registers:
                    T.copy(a, af)
                    T.gemm(af, b, c, transpose_B=transposed)
                else:
                    T.gemm(a, b, c, transpose_B=transposed)
            T.copy(c, C[by * bm, bx * bn])

    return main
