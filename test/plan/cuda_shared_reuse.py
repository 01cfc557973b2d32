# run: --target="cuda -arch=sm_80"
# expect: kernel main_kernel: 128 threads, 24576 bytes on chip
# expect: "swizzle 64B", 3 stages, 12288 bytes at 0
# expect: 3 stages, 12288 bytes at 12288
# expect: "swizzle 128B", 8192 bytes at 0
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=256, N=256, K=256, bm=64, bn=64, bk=32, S=3, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            out = T.alloc_shared((bm, bn), dtype)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=S):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, out)
            T.copy(out, C[by * bm, bx * bn])

    return main
