# Rows of run-time length: a kernel with bulk copies for whole units of 16 bytes, and one without.
# run: --target="cuda -arch=sm_90a"
# expect: bytes on chip, where n % 4 == 0
# expect: copy A, s (line 17): tma
# expect: copy s, B (line 20): tma
# expect: kernel main_kernel_any
# expect: copy A, s (line 17): plain, a stride of the tensor is not known to be a multiple of 16 bytes
import tilelang
import tilelang.language as T

m, n = T.dynamic("m"), T.dynamic("n")

@T.prim_func
def main(A: T.Tensor((m, n), "float32"), B: T.Tensor((m, n), "float32")):
    with T.Kernel(T.ceildiv(n, 64), T.ceildiv(m, 32), threads=128) as (bx, by):
        s = T.alloc_shared((32, 64), "float32")
        T.copy(A[by * 32, bx * 64], s)
        for i, j in T.Parallel(32, 64):
            s[i, j] = s[i, j] * 2
        T.copy(s, B[by * 32, bx * 64])
