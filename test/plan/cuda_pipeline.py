# run: --target="cuda -arch=sm_80"
# expect: copy A, a (line 21): cp.async, up to 16 bytes at a time, 2 iterations ahead
# expect: copy B, b (line 22): cp.async, up to 16 bytes at a time, 2 iterations ahead
# expect: a: shared float16[3, 64, 32]
# expect: 3 stages
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=256, N=256, K=256, bm=64, bn=64, bk=32, S=3, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=S):
                # what is copied, and how
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * bm, bx * bn])

    return main
