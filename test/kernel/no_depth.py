# A sum of no products: the depth is known when it runs, and may be 0; of an empty tensor there is no tensor map.
# verify: k=0
# verify: k=40
# verify: k=64
import tilelang
import tilelang.language as T

k = T.dynamic("k")


@T.prim_func
def main(A: T.Tensor((100, k), "float16"), B: T.Tensor((k, 128), "float16"), C: T.Tensor((100, 128), "float32")):
    with T.Kernel(2, 2, threads=128) as (bx, by):
        a = T.alloc_shared((64, 32), "float16")
        b = T.alloc_shared((32, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.clear(c)
        for step in T.Pipelined(T.ceildiv(k, 32), num_stages=3):
            T.copy(A[by * 64, step * 32], a)
            T.copy(B[step * 32, bx * 64], b)
            T.gemm(a, b, c)
        T.copy(c, C[by * 64, bx * 64])
