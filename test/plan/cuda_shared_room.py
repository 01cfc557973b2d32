# run: --target="cuda -arch=sm_80"
# expect: copy A, a (line 22): cp.async, up to 16 bytes at a time, 4 iterations ahead
# expect: kernel main_kernel: 128 threads, 163840 bytes on chip
# expect: out: shared float32[128, 128]
# expect: 65536 bytes at 0
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=256, N=256, K=512, bm=128, bn=128, bk=64, S=40, dtype="float16"):
    """The tile of the result takes no room from the iterations of the loop."""
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            out = T.alloc_shared((bm, bn), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=S):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, out)
            T.copy(out, C[by * bm, bx * bn])

    return main
