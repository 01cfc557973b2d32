# T.transpose between shared tiles of any shape.
# verify: M=1 N=1
# verify: M=40 N=70
# verify: M=33 N=31 bm=24 bn=40
# verify: M=97 N=5 bm=96 bn=48
# verify: M=64 N=64 dtype=float16
# verify: M=30 N=50 dtype=int8
import tilelang
import tilelang.language as T


@tilelang.jit
def transpose(M=64, N=64, bm=32, bn=32, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((N, M), dtype)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=64) as (bx, by):
            s = T.alloc_shared((bm, bn), dtype)
            t = T.alloc_shared((bn, bm), dtype)
            T.copy(A[by * bm, bx * bn], s)
            T.transpose(s, t)
            T.copy(t, B[bx * bn, by * bm])

    return main
