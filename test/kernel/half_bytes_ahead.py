# Tiles of 4-bit numbers that a pipelined loop brings ahead.
# verify: :summed
# verify: :summed dtype=uint4 K=96
# verify: :summed K=40 width=20
import tilelang.language as T


def summed(K=128, width=32, dtype="int4"):
    @T.prim_func
    def main(A: T.Tensor((64, K), dtype), C: T.Tensor((64, width), "int32")):
        with T.Kernel(2, threads=64) as bx:
            a = T.alloc_shared((32, width), dtype)
            c = T.alloc_fragment((32, width), "int32")
            T.clear(c)
            for k in T.Pipelined(K // width, num_stages=2):
                T.copy(A[bx * 32, k * width], a)
                for i, j in T.Parallel(32, width):
                    c[i, j] += T.cast(a[i, j], "int32")
            T.copy(c, C[bx * 32, 0])

    return main
