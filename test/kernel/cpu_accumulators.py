# Accumulators that live in the tensor they are stored to, and such as may not.
# verify: :plain
# verify: :plain K=320 bk=160
# verify: :plain M=50 N=70 K=400 bm=24 bn=40 bk=160
# verify: :plain M=33 N=47 K=400 bk=176 dtype=float64 accum=float64 --gfx90a=on-chip-bytes --gfx942=on-chip-bytes
# verify: :plain M=33 N=47 K=400 bk=176 dtype=int8 accum=int32
# verify: :plain M=33 N=47 K=400 bk=176 dtype=bfloat16
# verify: :two_products M=33 N=47 K=400 bk=160
# verify: :leaves_early M=33 N=130 K=500 bk=160
# verify: :clear_accum M=33 N=47 K=400 bk=160
# verify: :reads_c M=33 N=47 K=400 bk=160
# verify: :stored_twice M=33 N=47 K=400 bk=160
# verify: :plain M=33 N=47 K=65
# verify: :plain M=50 N=70 K=90 bm=24 bn=40 bk=48
# verify: :plain M=7 N=5 K=3
# verify: :plain M=40 N=48 K=56 dtype=float64 accum=float64
# verify: :plain M=33 N=40 K=70 dtype=int8 accum=int32
# verify: :plain M=33 N=40 K=70 dtype=float16
# verify: :relu M=33 N=47 K=65
# verify: :relu M=64 N=64 K=64
# verify: :reads_c M=33 N=47 K=65
# verify: :two_products M=33 N=47 K=65
# verify: :two_products M=64 N=32 K=96
# verify: :stored_twice M=33 N=47 K=65
# verify: :leaves_early M=33 N=47 K=130
# verify: :skips M=33 N=47 K=130
# verify: :maybe_empty M=33 N=47 K=64 steps=0
# verify: :maybe_empty M=33 N=47 K=64 steps=2
# verify: :keeps M=33 N=47 K=65
# verify: :batched
# verify: :clear_accum M=33 N=47 K=65
# verify: :rescaled M=33 N=47 K=65
import tilelang
import tilelang.language as T


@tilelang.jit
def plain(M=64, N=64, K=64, bm=32, bn=32, bk=32, dtype="float32", accum="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), accum)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), accum)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def relu(M=64, N=64, K=64, bm=32, bn=32, bk=32):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), "float32")
            b = T.alloc_shared((bk, bn), "float32")
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            for i, j in T.Parallel(bm, bn):
                c[i, j] = T.max(c[i, j], 0)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def reads_c(M=64, N=64, K=64, bm=32, bn=32, bk=32):
    """C is an operand of the epilogue: it must be whole until then."""

    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), "float32")
            b = T.alloc_shared((bk, bn), "float32")
            c = T.alloc_fragment((bm, bn), "float32")
            old = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(C[by * bm, bx * bn], old)
            for i, j in T.Parallel(bm, bn):
                c[i, j] += 2 * old[i, j]
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def two_products(M=64, N=64, K=64, bm=32, bn=32, bk=32):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float32"),
        B: T.Tensor((K, N), "float32"),
        D: T.Tensor((K, N), "float32"),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), "float32")
            b = T.alloc_shared((bk, bn), "float32")
            d = T.alloc_shared((bk, bn), "float32")
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.copy(D[k * bk, bx * bn], d)
                T.gemm(a, b, c)
                T.gemm(a, d, c)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def stored_twice(M=64, N=64, K=64, bm=32, bn=32, bk=32):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float32"),
        B: T.Tensor((K, N), "float32"),
        C: T.Tensor((M, N), "float32"),
        D: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), "float32")
            b = T.alloc_shared((bk, bn), "float32")
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * bm, bx * bn])
            T.copy(c, D[by * bm, bx * bn])

    return main


@tilelang.jit
def leaves_early(M=64, N=64, K=128, bm=32, bn=32, bk=32):
    """The first product may never run: what it would have overwritten is cleared all the same."""

    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), "float32")
            b = T.alloc_shared((bk, bn), "float32")
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.serial(T.ceildiv(K, bk)):
                if k >= bx:
                    T.loop_break()
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def skips(M=64, N=64, K=128, bm=32, bn=32, bk=32):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), "float32")
            b = T.alloc_shared((bk, bn), "float32")
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.serial(T.ceildiv(K, bk)):
                if k % 2 == 0:
                    continue
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def maybe_empty(M=64, N=64, K=64, bm=32, bn=32, bk=32, steps=1):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), "float32")
            b = T.alloc_shared((bk, bn), "float32")
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.serial(T.min(steps, bx)):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def keeps(M=64, N=64, K=64, bm=32, bn=32, bk=32):
    """Not cleared: it starts from C."""

    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), "float32")
            b = T.alloc_shared((bk, bn), "float32")
            c = T.alloc_fragment((bm, bn), "float32")
            T.copy(C[by * bm, bx * bn], c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def batched(G=3, M=20, N=24, K=40, bm=16, bn=16, bk=32):
    @T.prim_func
    def main(A: T.Tensor((G, M, K), "float32"), B: T.Tensor((G, K, N), "float32"), C: T.Tensor((G, M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), G, threads=128) as (bx, by, bz):
            a = T.alloc_shared((bm, bk), "float32")
            b = T.alloc_shared((bk, bn), "float32")
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                T.copy(A[bz, by * bm : (by + 1) * bm, k * bk : (k + 1) * bk], a)
                T.copy(B[bz, k * bk : (k + 1) * bk, bx * bn : (bx + 1) * bn], b)
                T.gemm(a, b, c)
            T.copy(c, C[bz, by * bm : (by + 1) * bm, bx * bn : (bx + 1) * bn])

    return main


@tilelang.jit
def clear_accum(M=64, N=64, K=64, bm=32, bn=32, bk=32):
    """Each product starts anew; the last one stays."""

    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), "float32")
            b = T.alloc_shared((bk, bn), "float32")
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.serial(T.ceildiv(K, bk)):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c, clear_accum=True)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def rescaled(M=64, N=64, K=64, bm=32, bn=32, bk=32):
    """The accumulator is touched between products."""

    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), "float32")
            b = T.alloc_shared((bk, bn), "float32")
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.serial(T.ceildiv(K, bk)):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                for i, j in T.Parallel(bm, bn):
                    c[i, j] = c[i, j] * 0.5
                T.gemm(a, b, c)
            T.copy(c, C[by * bm, bx * bn])

    return main
