# Operands in registers, clear_accum, a converted output, a bias, two products in a row.
# verify: :register_a M=40 N=24 K=50
# verify: :register_a M=40 N=24 K=50 dtype=float16
# verify: :register_a M=33 N=31 K=17 dtype=bfloat16
# verify: :bytes_a M=70 N=24 K=80
# verify: :bytes_a M=70 N=24 K=80 dtype=uint8 b_dtype=int8
# verify: :bytes_a M=64 N=40 K=64 dtype=float8_e4m3fn acc=float32
# verify: :clears M=33 N=40 K=100
# verify: :clears M=33 N=40 K=100 precision=float32
# verify: :epilogue M=33 N=40 K=64
# verify: :epilogue M=65 N=40 K=64 dtype=bfloat16
# verify: :epilogue M=30 N=41 K=64 dtype=float8_e4m3fn
# verify: :chain M=33 N=40
# verify: :chain M=17 N=100 dtype=float16
# verify: :shared_c M=24 N=40 K=33
# verify: :strips M=40 N=30 K=64
# verify: :strips M=40 N=30 K=64 precision=float32
# verify: :policies M=64 N=64 K=64
import tilelang
import tilelang.language as T


@tilelang.jit
def register_a(M=40, N=24, K=50, dtype="float32", bm=16, bn=24, bk=16):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=64) as (bx, by):
            a = T.alloc_fragment((bm, bk), dtype)
            b = T.alloc_shared((bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.serial(T.ceildiv(K, bk)):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                for i, j in T.Parallel(bm, bk):
                    a[i, j] = a[i, j] * 2
                T.gemm(a, b, c)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def bytes_a(M=70, N=24, K=80, dtype="int8", b_dtype=None, acc="int32", bm=64, bn=48, bk=64):
    """A of 8 bits in registers: on Hopper by a warpgroup's instruction."""

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), b_dtype or dtype), C: T.Tensor((M, N), acc)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_fragment((bm, bk), dtype)
            b = T.alloc_shared((bn, bk), b_dtype or dtype)
            c = T.alloc_fragment((bm, bn), acc)
            T.clear(c)
            for k in T.serial(T.ceildiv(K, bk)):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[bx * bn, k * bk], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def clears(M=33, N=40, K=100, bm=16, bn=16, bk=32, precision=None):
    """clear_accum known only at run time: the accumulator starts as rubbish."""

    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=64) as (bx, by):
            a = T.alloc_shared((bm, bk), "float32")
            b = T.alloc_shared((bk, bn), "float32")
            c = T.alloc_fragment((bm, bn), "float32")
            T.fill(c, 1e9)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c, clear_accum=(k == 0), precision=precision)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def epilogue(M=33, N=40, K=64, dtype="float16", bm=32, bn=32, bk=32):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((K, N), dtype),
        bias: T.Tensor((N,), "float32"),
        C: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=64) as (bx, by):
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bk, bn), dtype)
            s = T.alloc_shared((bm, bn), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            v = T.alloc_fragment((bn,), "float32")
            T.copy(bias[bx * bn], v)
            for i, j in T.Parallel(bm, bn):
                c[i, j] = v[j]
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=3):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            for i, j in T.Parallel(bm, bn):
                c[i, j] = T.max(c[i, j], 0) + 0.5
            T.copy(c, s)
            T.copy(s, C[by * bm, bx * bn])

    return main


@tilelang.jit
def chain(M=33, N=40, dtype="float32", bm=16, D=24):
    """(Q K^T) V, as attention has it: the first result is an operand of the second."""

    @T.prim_func
    def main(
        Q: T.Tensor((M, D), dtype),
        K: T.Tensor((N, D), dtype),
        V: T.Tensor((N, D), dtype),
        O: T.Tensor((M, D), "float32"),
    ):
        with T.Kernel(T.ceildiv(M, bm), threads=64) as bx:
            q = T.alloc_shared((bm, D), dtype)
            k = T.alloc_shared((bm, D), dtype)
            v = T.alloc_shared((bm, D), dtype)
            s = T.alloc_fragment((bm, bm), "float32")
            p = T.alloc_fragment((bm, bm), dtype)
            o = T.alloc_fragment((bm, D), "float32")
            T.copy(Q[bx * bm, 0], q)
            T.clear(o)
            for n in T.Pipelined(T.ceildiv(N, bm), num_stages=2):
                T.copy(K[n * bm, 0], k)
                T.copy(V[n * bm, 0], v)
                T.clear(s)
                T.gemm(q, k, s, transpose_B=True)
                T.copy(s, p)
                T.gemm(p, v, o)
            T.copy(o, O[bx * bm, 0])

    return main


@tilelang.jit
def shared_c(M=24, N=40, K=33):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((M, K), "float32")
            b = T.alloc_shared((K, N), "float32")
            c = T.alloc_fragment((M, N), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.copy(C, c)
            T.gemm(a, b, c)
            T.gemm(a, b, c)
            T.copy(c, C)

    return main


@tilelang.jit
def strips(M=40, N=30, K=64, bk=16, precision=None):
    """Operands that are parts of larger tiles."""

    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((M, K), "float32")
            b = T.alloc_shared((K, N), "float32")
            c = T.alloc_fragment((M, N), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            for k in T.serial(K // bk):
                T.gemm(a[0:M, k * bk : k * bk + bk], b[k * bk : k * bk + bk, 0:N], c, precision=precision)
            T.copy(c, C)

    return main


@tilelang.jit
def policies(M=64, N=64, K=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, K), "float32")
            b = T.alloc_shared((K, N), "float32")
            c = T.alloc_fragment((M, N), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
            T.gemm(a, b, c, policy=T.GemmWarpPolicy.FullCol)
            T.gemm(a, b, c, policy=T.GemmWarpPolicy.Square, k_pack=1)
            T.copy(c, C)

    return main
