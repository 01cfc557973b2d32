# Reductions into a part of a tile: a row, a column, a strip, at a place known now or at run time.
# verify: :row
# verify: :row out=shared
# verify: :row mem=shared
# verify: :row kind=max clear=False threads=96
# verify: :row mem=shared out=shared kind=max clear=False
# verify: :row M=5 N=33 dtype=float16 threads=32
# verify: :row_serial
# verify: :row_serial out=fragment R=12
# verify: :col
# verify: :col out=fragment
# verify: :slab
# verify: :one
# verify: :rank3
# verify: :half
# verify: :half_serial
# verify: :by_way
import tilelang
import tilelang.language as T


@tilelang.jit
def row(M=16, N=40, kind="sum", mem="fragment", out="fragment", threads=128, clear=True, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((3, M, N), dtype), O: T.Tensor((3, M), dtype)):
        with T.Kernel(1, threads=threads) as bx:
            f = T.alloc_fragment((M, N), dtype) if mem == "fragment" else T.alloc_shared((M, N), dtype)
            o = T.alloc_fragment((3, M), dtype) if out == "fragment" else T.alloc_shared((3, M), dtype)
            T.fill(o, 1)
            for r in T.unroll(3):
                T.copy(A[r, 0, 0], f)
                if kind == "sum":
                    T.reduce_sum(f, o[r, :], dim=1, clear=clear)
                else:
                    T.reduce_max(f, o[r, :], dim=1, clear=clear)
            T.copy(o, O)

    return main


@tilelang.jit
def row_serial(M=16, N=40, R=3, out="shared", threads=128, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((R, M, N), dtype), O: T.Tensor((R, M), dtype)):
        with T.Kernel(1, threads=threads) as bx:
            f = T.alloc_fragment((M, N), dtype)
            o = T.alloc_fragment((R, M), dtype) if out == "fragment" else T.alloc_shared((R, M), dtype)
            for r in T.serial(R):
                T.copy(A[r, 0, 0], f)
                T.reduce_sum(f, o[r, :], dim=1)
            T.copy(o, O)

    return main


@tilelang.jit
def col(M=16, N=40, threads=64, out="shared"):
    @T.prim_func
    def main(A: T.Tensor((2, M, N), "float32"), O: T.Tensor((M, 2), "float32"), P: T.Tensor((2, 1, N), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            f = T.alloc_fragment((M, N), "float32")
            o = T.alloc_shared((M, 2), "float32") if out == "shared" else T.alloc_fragment((M, 2), "float32")
            p = T.alloc_shared((2, 1, N), "float32")
            for r in T.unroll(2):
                T.copy(A[r, 0, 0], f)
                T.reduce_sum(f, o[:, r], dim=1)
                T.reduce_max(f, p[r, :, :], dim=0)
            T.copy(o, O)
            T.copy(p, P)

    return main


# a slab of the source too
@tilelang.jit
def slab(B=3, M=8, N=24, threads=96):
    @T.prim_func
    def main(A: T.Tensor((B, M, N), "float16"), O: T.Tensor((M, B), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            s = T.alloc_shared((B, M, N), "float16")
            o = T.alloc_shared((M, B), "float32")
            T.copy(A, s)
            for b in T.serial(B):
                T.reduce_sum(s[b, :, :], o[:, b], dim=2)
            T.copy(o, O)

    return main


@tilelang.jit
def one(N=100, threads=64):
    @T.prim_func
    def main(A: T.Tensor((4, N), "int32"), O: T.Tensor((4, 1), "int32")):
        with T.Kernel(1, threads=threads) as bx:
            f = T.alloc_fragment((N,), "int32")
            o = T.alloc_fragment((4, 1), "int32")
            for r in T.unroll(4):
                T.copy(A[r, 0], f)
                T.reduce_max(f, o[r, :], dim=0)
            T.copy(o, O)

    return main


@tilelang.jit
def rank3(M=16, N=40, R=3, threads=128):
    @T.prim_func
    def main(A: T.Tensor((R, M, N), "float32"), O: T.Tensor((R, M), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            f = T.alloc_shared((R, M, N), "float32")
            o = T.alloc_fragment((R, M), "float32")
            T.copy(A, f)
            for r in T.serial(R):
                T.reduce_sum(f[r, :, :], o[r, :], dim=2)
            T.copy(o, O)

    return main


@tilelang.jit
def half(M=16, N=40, threads=128):
    @T.prim_func
    def main(A: T.Tensor((2, M, N), "float32"), O: T.Tensor((2 * M,), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            f = T.alloc_fragment((M, N), "float32")
            o = T.alloc_fragment((2 * M,), "float32")
            for r in T.unroll(2):
                T.copy(A[r, 0, 0], f)
                T.reduce_sum(f, o[r * M : (r + 1) * M], dim=1)
            T.copy(o, O)

    return main


@tilelang.jit
def half_serial(M=16, N=40, threads=128):
    @T.prim_func
    def main(A: T.Tensor((2, M, N), "float32"), O: T.Tensor((2 * M,), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            f = T.alloc_fragment((M, N), "float32")
            o = T.alloc_fragment((2 * M,), "float32")
            for r in T.serial(2):
                T.copy(A[r, 0, 0], f)
                T.reduce_max(f, o[r * M : (r + 1) * M], dim=1)
            T.copy(o, O)

    return main


@tilelang.jit
def by_way(M=16, N=40, R=3, threads=128):
    @T.prim_func
    def main(A: T.Tensor((R, M, N), "float32"), O: T.Tensor((R, M), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            f = T.alloc_shared((M, N), "float32")
            o = T.alloc_fragment((R, M), "float32")
            t = T.alloc_fragment((M,), "float32")
            for r in T.serial(R):
                T.copy(A[r, 0, 0], f)
                T.reduce_sum(f, t, dim=1)
                T.copy(t, o[r, :])
            T.copy(o, O)

    return main
