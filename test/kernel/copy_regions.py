# Slices, element starts, rows of higher ranks, a size-1 dimension on one side only.
# verify: :rows B=1 M=1 N=1
# verify: :rows B=3 M=20 N=24
# verify: :rows B=2 M=33 N=37
# verify: :columns M=5 N=7
# verify: :columns M=40 N=70
# verify: :plain M=13 N=29
# verify: :shifted M=40 N=50
# verify: :cut_twice --warns=slice-range
# verify: :cut_twice R=3 S=9 --warns=slice-range
import tilelang
import tilelang.language as T


@tilelang.jit
def rows(B=2, M=20, N=24, bm=16):
    @T.prim_func
    def main(A: T.Tensor((B, M, N), "float32"), C: T.Tensor((M, B, N), "float32")):
        with T.Kernel(T.ceildiv(M, bm), B, threads=64) as (bx, by):
            s = T.alloc_shared((bm, N), "float32")
            T.copy(A[by, bx * bm : bx * bm + bm, 0:N], s)
            T.copy(s, C[bx * bm : bx * bm + bm, by, :])

    return main


@tilelang.jit
def columns(M=40, N=70, bm=16):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), C: T.Tensor((N, M), "float32")):
        with T.Kernel(N, T.ceildiv(M, bm), threads=32) as (bx, by):
            s = T.alloc_fragment((bm,), "float32")
            T.copy(A[by * bm : by * bm + bm, bx], s)
            T.copy(s, C[bx, by * bm])

    return main


@tilelang.jit
def plain(M=13, N=29):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), C: T.Tensor((M, N), "float32"), D: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            T.copy(A, C)
            T.copy(A[0:M, 3], D)
            T.copy(A[2, 5], D[1])

    return main


@tilelang.jit
def shifted(M=40, N=50, b=32):
    """Starts before and after the tensor: what lies outside reads as 0 and is not written."""

    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, b) + 1, T.ceildiv(M, b) + 1, threads=64) as (bx, by):
            s = T.alloc_shared((b, b), "float32")
            T.copy(A[by * b - 7, bx * b - 5], s)
            T.copy(s, C[by * b - 9, bx * b - 3])

    return main


@tilelang.jit
def last(B=2, M=20, N=24, bm=16):
    return rows(B, M, N, bm)


# Both ends are cut, the target before the source: what is read ahead of the store's guard keeps to the source.
@tilelang.jit
def cut_twice(R=7, S=3):
    @T.prim_func
    def main(A: T.Tensor((R, 16), "bfloat16"), B: T.Tensor((S, 24), "float32")):
        with T.Kernel(1, threads=96) as bx:
            T.copy(A[0:8, 0:40], B[0:8, 0:40])

    return main
