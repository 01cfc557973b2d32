# A tile that something else reads too is really copied.
# expect: copy A, a: plain
# expect: copy B, s: view
# expect: gemm a, s, c: simd
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(2, 2, threads=128) as (bx, by):
        a = T.alloc_shared((32, 32), "float32")
        s = T.alloc_shared((32, 32), "float32")
        c = T.alloc_fragment((32, 32), "float32")
        T.clear(c)
        for k in T.Pipelined(2, num_stages=2):
            T.copy(A[by * 32, k * 32], a)
            T.copy(B[k * 32, bx * 32], s)
            for i, j in T.Parallel(32, 32):
                a[i, j] = a[i, j] * 2
            T.gemm(a, s, c)
        T.copy(c, C[by * 32, bx * 32])
