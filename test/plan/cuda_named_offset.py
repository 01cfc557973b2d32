# run: --target="cuda -arch=sm_80"
# expect: copy A, a (line 20): cp.async, up to 16 bytes at a time, 2 iterations ahead
# expect: copy B, b (line 21): cp.async, up to 8 bytes at a time, 2 iterations ahead
# expect: parallel nest (line 22): cp.async, 2 iterations ahead
# refuse: it cannot move
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((256, 256), "float16"), B: T.Tensor((256, 256), "float16"), S: T.Tensor((256, 64), "float16"),
         C: T.Tensor((256, 256), "float32")):
    with T.Kernel(4, 4, threads=128) as (bx, by):
        a, b = T.alloc_shared((64, 32), "float16"), T.alloc_shared((32, 32), "float16")
        s = T.alloc_shared((64, 32), "float16")
        c = T.alloc_fragment((64, 32), "float32")
        T.clear(c)
        row = by * 64
        for ko in T.Pipelined(7, num_stages=3):
            k0, col = ko * 32, bx * 64 + 12
            T.copy(A[row, k0], a)
            T.copy(B[k0, col], b)
            for i, j in T.Parallel(64, 32):
                half = ko % 2 * 32
                s[i, j] = S[row + i, half + j]
            T.gemm(a, b, c)
            T.gemm(s, b, c)
        T.copy(c, C[row, bx * 64])
