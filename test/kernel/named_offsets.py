# Where a window starts has a name: in copies that run ahead, in nests, at odd places, past the end.
# verify: :product
# verify: :product step=20
# verify: :product K=100 step=36 start=3
# verify: :product dtype=int8 acc=int32
# verify: :nest
# verify: :nest start=4
# verify: :nest start=3 N=100
# verify: :listed
# verify: :clipped
import tilelang.language as T


def product(K=128, step=32, start=0, dtype="float16", acc="float32"):
    """Columns from k0 on, rows of B from there; B's columns by another name."""

    @T.prim_func
    def main(A: T.Tensor((64, K), dtype), B: T.Tensor((K, 96), dtype), C: T.Tensor((64, 64), acc)):
        with T.Kernel(2, 2, threads=128) as (bx, by):
            a, b = T.alloc_shared((32, 32), dtype), T.alloc_shared((32, 32), dtype)
            c = T.alloc_fragment((32, 32), acc)
            T.clear(c)
            for ko in T.Pipelined(3, num_stages=2):
                k0 = ko * step + start
                row, col = by * 32, bx * 32 + start * 8
                T.copy(A[row, k0], a)
                T.copy(B[k0, col], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * 32, bx * 32])

    return main


def nest(N=256, start=0):
    """The same without copies; the name is of another name."""

    @T.prim_func
    def main(A: T.Tensor((64, N), "float16"), S: T.Tensor((64, N), "float16"), B: T.Tensor((64, N), "float16")):
        with T.Kernel(T.ceildiv(N, 64), 2, threads=128) as (bx, by):
            first = bx * 64
            col = first + start
            row = by * 32
            for i, j in T.Parallel(32, 64):
                if col + j < N:
                    B[row + i, col + j] = A[row + i, col + j] * S[row + i, first + j]
            for j in T.Parallel(64):
                if bx == 0 and j < start:
                    B[row, j] = A[row, j]

    return main


def listed(n=8):
    """The start is read."""

    @T.prim_func
    def main(At: T.Tensor((n,), "int32"), A: T.Tensor((64, 256), "float16"), B: T.Tensor((n, 64, 32), "float16")):
        with T.Kernel(n, threads=64) as bx:
            a = T.alloc_shared((64, 32), "float16")
            at = T.min(T.max(At[bx], 0), 28) * 8
            for k in T.Pipelined(2, num_stages=2):
                col = at + k * 0
                T.copy(A[0, col], a)
                for i, j in T.Parallel(64, 32):
                    B[bx, i, j] = a[i, j] + T.cast(k, "float16")

    return main


def clipped(n=50):
    """The name is a minimum, no multiple of anything."""

    @T.prim_func
    def main(A: T.Tensor((n, 64), "float32"), B: T.Tensor((n, 64), "float32")):
        with T.Kernel(T.ceildiv(n, 16), 2, threads=64) as (bx, by):
            a = T.alloc_shared((16, 32), "float32")
            row = T.min(bx * 16, n - 16)
            col = T.min(by * 32, 27)
            T.copy(A[row, col], a)
            T.copy(a, B[row, by * 32])

    return main
