# Rows that only the arguments say the length of: bulk copies where they are whole units, else not.
# verify: :twice m=40 n=64
# verify: :twice m=40 n=66
# verify: :twice m=40 n=67
# verify: :twice m=0 n=64
# verify: :product m=70 n=72 k=80
# verify: :product m=70 n=72 k=81
# verify: :product m=70 n=75 k=80
# verify: :strided m=20 s=80
# verify: :strided m=20 s=77
# verify: :two_kernels m=33 n=40
# verify: :two_kernels m=33 n=41
import tilelang
import tilelang.language as T


@tilelang.jit
def twice():
    m, n = T.dynamic("m"), T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((m, n), "float32"), B: T.Tensor((m, n), "float32")):
        with T.Kernel(T.ceildiv(n, 64), T.ceildiv(m, 32), threads=128) as (bx, by):
            s = T.alloc_shared((32, 64), "float32")
            T.copy(A[by * 32, bx * 64], s)
            for i, j in T.Parallel(32, 64):
                s[i, j] = s[i, j] * 2
            T.copy(s, B[by * 32, bx * 64])

    return main


@tilelang.jit
def product(bm=64, bn=64, bk=32):
    m, n, k = T.dynamic("m"), T.dynamic("n"), T.dynamic("k")

    @T.prim_func
    def main(A: T.Tensor((m, k), "float16"), B: T.Tensor((k, n), "float16"), C: T.Tensor((m, n), "float16")):
        with T.Kernel(T.ceildiv(n, bn), T.ceildiv(m, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), "float16")
            b = T.alloc_shared((bk, bn), "float16")
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for i in T.Pipelined(T.ceildiv(k, bk), num_stages=2):
                T.copy(A[by * bm, i * bk], a)
                T.copy(B[i * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def strided():
    m, s = T.dynamic("m"), T.dynamic("s")

    @T.prim_func
    def main(A: T.StridedTensor((m, 64), (s, 1), "float32"), B: T.Tensor((m, 64), "float32")):
        with T.Kernel(T.ceildiv(m, 16), threads=128) as bx:
            a = T.alloc_shared((16, 64), "float32")
            T.copy(A[bx * 16, 0], a)
            T.copy(a, B[bx * 16, 0])

    return main


@tilelang.jit
def two_kernels():
    m, n = T.dynamic("m"), T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((m, n), "float32"), B: T.Tensor((m, n), "float32"), C: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 64), T.ceildiv(m, 32), threads=128) as (bx, by):
            s = T.alloc_shared((32, 64), "float32")
            T.copy(A[by * 32, bx * 64], s)
            T.copy(s, B[by * 32, bx * 64])
        with T.Kernel(T.ceildiv(n, 64), threads=128) as bx:
            f = T.alloc_fragment((64,), "float32")
            for i in T.Parallel(64):
                f[i] = B[0, bx * 64 + i] * 3
            T.copy(f, C[bx * 64])

    return main
