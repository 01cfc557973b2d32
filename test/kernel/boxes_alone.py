# Bulk copies that one thread asks for, outside of pipelined loops: tiles, loops, conditions, edges.
# verify: :tile
# verify: :tile M=100 N=72
# verify: :tile dtype=float16 N=192
# verify: :rounds
# verify: :rounds M=70 n=1
# verify: :two_tiles
# verify: :two_tiles N=40 threads=96
# verify: :sometimes
# verify: :again
# verify: :turned dtype=float32
# verify: :turned dtype=float16
# verify: :stacked
# verify: :in_place
# verify: :over_stores
# verify: :same_place
# verify: :staged
# verify: :staged threads=128 stages=3 late=1
# verify: :staged threads=64 stages=2 late=1
# verify: :products
# verify: :products threads=128 M=100 N=72 K=40
# verify: :flat
# verify: :declined
# verify: :declined how=tma
# verify: :declined how=sync
# verify: :small
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def tile(M=128, N=64, bm=32, bn=64, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bn), dtype)
            T.copy(A[by * bm, bx * bn], a)
            for i, j in T.Parallel(bm, bn):
                a[i, j] = a[i, j] * 2
            T.copy(a, B[by * bm, bx * bn])

    return main


@tilelang.jit(out_idx=[-1])
def rounds(M=64, N=64, n=3):
    """The same tile again and again: phases turn."""

    @T.prim_func
    def main(A: T.Tensor((n, M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(M, 32), threads=64) as bx:
            a = T.alloc_shared((32, N), "float32")
            b = T.alloc_fragment((32, N), "float32")
            T.clear(b)
            for k in T.serial(n):
                T.copy(A[k, bx * 32, 0], a)
                for i, j in T.Parallel(32, N):
                    b[i, j] = b[i, j] + a[31 - i, j]
            T.copy(b, B[bx * 32, 0])

    return main


@tilelang.jit(out_idx=[-1])
def two_tiles(M=64, N=64, threads=128):
    """Both are under way at once; other work stands in between."""

    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(M, 32), threads=threads) as bx:
            a = T.alloc_shared((32, N), "float32")
            b = T.alloc_shared((32, N), "float32")
            c = T.alloc_fragment((32, N), "float32")
            T.copy(A[bx * 32, 0], a)
            T.copy(B[bx * 32, 0], b)
            T.fill(c, 3)
            for i, j in T.Parallel(32, N):
                c[i, j] = c[i, j] + a[31 - i, j]
            for i, j in T.Parallel(32, N):
                c[i, j] = c[i, j] - b[31 - i, j]
            T.copy(c, C[bx * 32, 0])

    return main


@tilelang.jit(out_idx=[-1])
def sometimes(N=64, n=5):
    @T.prim_func
    def main(A: T.Tensor((n, 32, N), "float32"), which: T.Tensor((n,), "int32"), B: T.Tensor((32, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((32, N), "float32")
            b = T.alloc_fragment((32, N), "float32")
            T.clear(b)
            T.clear(a)
            for k in T.serial(n):
                if which[k] % 2 == 0:
                    T.copy(A[k, 0, 0], a)
                for i, j in T.Parallel(32, N):
                    b[i, j] = b[i, j] * 2 + a[31 - i, j]
            T.copy(b, B)

    return main


@tilelang.jit(out_idx=[-1])
def again(N=64):
    """One tile, filled twice; stored twice."""

    @T.prim_func
    def main(A: T.Tensor((64, N), "float32"), B: T.Tensor((64, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((32, N), "float32")
            T.copy(A[0, 0], a)
            T.copy(a, B[32, 0])
            T.copy(A[32, 0], a)
            T.copy(a, B[0, 0])

    return main


@tilelang.jit(out_idx=[-1])
def turned(M=96, N=128, b=64, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((N, M), dtype)):
        with T.Kernel(T.ceildiv(N, b), T.ceildiv(M, b), threads=128) as (bx, by):
            s = T.alloc_shared((b, b), dtype)
            T.copy(A[by * b, bx * b], s)
            for i, j in T.Parallel(b, b):
                B[bx * b + i, by * b + j] = s[j, i]

    return main


@tilelang.jit(out_idx=[-1])
def stacked(N=64):
    """Several boxes: one for each of the leading indices."""

    @T.prim_func
    def main(A: T.Tensor((2, 3, 40, N), "float16"), B: T.Tensor((2, 3, 40, N), "float16")):
        with T.Kernel(2, threads=128) as bx:
            a = T.alloc_shared((3, 16, N), "float16")
            for k in T.serial(3):
                T.copy(A[bx, 0:3, k * 16 : k * 16 + 16, 0:N], a)
                T.copy(a, B[bx, 0:3, k * 16 : k * 16 + 16, 0:N])

    return main


@tilelang.jit(out_idx=[-1])
def in_place(N=64):
    """A tensor that the kernel reads back is not left to bulk copies."""

    @T.prim_func
    def main(A: T.Tensor((32, N), "float32"), B: T.Tensor((32, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((32, N), "float32")
            b = T.alloc_shared((32, N), "float32")
            T.copy(A, a)
            T.copy(a, B)
            T.copy(B, b)
            for i, j in T.Parallel(32, N):
                b[i, j] = b[i, j] + 1
            T.copy(b, B)

    return main


@tilelang.jit(out_idx=[-1])
def over_stores(N=64):
    """What threads stored is written over by a bulk copy: a fence stands between."""

    @T.prim_func
    def main(A: T.Tensor((2, 32, N), "float32"), B: T.Tensor((32, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((32, N), "float32")
            b = T.alloc_fragment((32, N), "float32")
            T.fill(b, 1)
            for k in T.serial(2):
                for i, j in T.Parallel(32, N):
                    a[i, j] = b[i, j]
                for i, j in T.Parallel(32, N):
                    b[i, j] = b[i, j] + a[31 - i, j]
                T.copy(A[k, 0, 0], a)
                for i, j in T.Parallel(32, N):
                    b[i, j] = b[i, j] + a[31 - i, j]
            T.copy(b, B)

    return main


@tilelang.jit(out_idx=[-1])
def declined(N=64, how="none"):
    """A kernel may say how a copy is made."""

    @T.prim_func
    def main(A: T.Tensor((32, N), "float32"), B: T.Tensor((32, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((32, N), "float32")
            if how == "none":
                T.copy(A, a, disable_tma=True)
            else:
                T.copy(A, a, prefer_instruction=how)
            T.copy(a, B, disable_tma=how != "tma")

    return main


@tilelang.jit(out_idx=[-1])
def same_place(N=64):
    """Each turn stores over the one before: the last one wins."""

    @T.prim_func
    def main(A: T.Tensor((4, 32, N), "float32"), B: T.Tensor((32, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((32, N), "float32")
            for k in T.serial(4):
                T.copy(A[k, 0, 0], a)
                T.copy(a, B)

    return main


@tilelang.jit(out_idx=[-1])
def flat(N=64):
    """The same tensor in another shape."""

    @T.prim_func
    def main(A: T.Tensor((2, 32, N), "float32"), B: T.Tensor((2, 32, N), "float32")):
        with T.Kernel(2, threads=128) as bx:
            rows = T.Tensor((64, N), "float32", A.data)
            out = T.Tensor((64, N), "float32", B.data)
            a = T.alloc_shared((32, N), "float32")
            T.copy(rows[bx * 32, 0], a)
            for i, j in T.Parallel(32, N):
                a[i, j] = a[i, j] + 1
            T.copy(a, out[bx * 32, 0])

    return main


@tilelang.jit(out_idx=[-1])
def staged(N=64, n=4, stages=1, threads=96, late=0):
    """In a pipelined loop that runs nothing ahead."""

    @T.prim_func
    def main(A: T.Tensor((n, 32, N), "float32"), C: T.Tensor((n, 32, N), "float32"), B: T.Tensor((32, N), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            a = T.alloc_shared((32, N), "float32")
            c = T.alloc_shared((32, N), "float32")
            b = T.alloc_fragment((32, N), "float32")
            T.clear(b)
            for k in T.Pipelined(n, num_stages=stages):
                T.copy(A[k, 0, 0], a)
                for i, j in T.Parallel(32, N):
                    b[i, j] = b[i, j] * 2 + a[31 - i, j]
                T.copy(C[k, 0, 0], c)
                for i, j in T.Parallel(32, N):
                    b[i, j] = b[i, j] - c[31 - i, j]
            if late:
                for i, j in T.Parallel(32, N):
                    b[i, j] = b[i, j] + a[i, j] + c[31 - i, j]
            T.copy(b, B)

    return main


@tilelang.jit(out_idx=[-1])
def products(M=64, N=64, K=96, threads=64):
    """Operands of matrix instructions, outside of pipelines."""

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=threads) as (bx, by):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((64, 32), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            s = T.alloc_shared((64, 64), "float16")
            T.clear(c)
            for k in T.serial(T.ceildiv(K, 32)):
                T.copy(A[by * 64, k * 32], a)
                T.copy(B[bx * 64, k * 32], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, s)
            T.copy(s, C[by * 64, bx * 64])

    return main


@tilelang.jit
def small():
    """Tiles of less than 128 bytes, the second of which would lie at 64 more."""

    @T.prim_func
    def main(A: T.Tensor((64,), "float16"), B: T.Tensor((64,), "float16"), C: T.Tensor((80,), "bfloat16")):
        with T.Kernel(2, threads=96) as bx:
            a = T.alloc_shared((96,), "float16")
            c = T.alloc_shared((40,), "bfloat16")
            for i in T.Parallel(96):
                a[i] = i
            for i in T.Parallel(40):
                c[i] = i + bx
            for i in T.Parallel(32):
                B[bx * 32 + i] = A[bx * 32 + i] + a[95 - i]
            T.copy(c, C[bx * 40])

    return main
