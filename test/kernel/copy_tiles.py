# A copy through shared memory and registers, sizes around the tile.
# verify: M=1 N=1
# verify: M=17 N=31
# verify: M=31 N=33 bm=32 bn=32
# verify: M=32 N=32 bm=32 bn=32
# verify: M=33 N=31 bm=32 bn=32
# verify: M=50 N=100 bm=24 bn=40
# verify: M=49 N=97 bm=48 bn=96
# verify: M=97 N=7 bm=96 bn=24
# verify: M=2 N=300 bm=1 bn=1
import tilelang
import tilelang.language as T


@tilelang.jit
def copy_tiles(M=64, N=64, bm=16, bn=16, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=64) as (bx, by):
            s = T.alloc_shared((bm, bn), dtype)
            f = T.alloc_fragment((bm, bn), dtype)
            T.copy(A[by * bm, bx * bn], s)
            T.copy(s, f)
            T.copy(f, B[by * bm, bx * bn])

    return main
