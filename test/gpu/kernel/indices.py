"""Offsets of small, large and run-time sized tensors: test/gpu/indices.sh."""
import tilelang
import tilelang.language as T


@tilelang.jit
def rows(M=1024, N=1024, dtype="int8"):
    """Offsets reach M * N - 1."""
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(M, threads=128) as b:
            for j in T.Parallel(N):
                Y[b, j] = X[b, N - 1 - j]

    return main


@tilelang.jit
def part(M=1 << 20, N=4096, first=64):
    """The tensor is large, the part that is touched is not."""
    @T.prim_func
    def main(X: T.Tensor((M, N), "int8"), Y: T.Tensor((first, N), "int8")):
        with T.Kernel(first, threads=128) as b:
            for j in T.Parallel(N):
                Y[b, j] = X[b, N - 1 - j]

    return main


@tilelang.jit
def dynamic(N=1024):
    M = T.dynamic("m")

    @T.prim_func
    def main(X: T.Tensor((M, N), "int8"), Y: T.Tensor((M, N), "int8")):
        with T.Kernel(M, threads=128) as b:
            for j in T.Parallel(N):
                Y[b, j] = X[b, N - 1 - j]

    return main


@tilelang.jit
def tile(M=1 << 17, N=1 << 17, K=64):
    """Tiles of a matrix with more than 2^32 elements."""
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=128) as (bx, by):
            a = T.alloc_shared((64, K), "float16")
            b = T.alloc_shared((K, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            T.copy(A[by * 64, 0], a)
            T.copy(B[0, bx * 64], b)
            T.gemm(a, b, c)
            T.copy(c, C[by * 64, bx * 64])

    return main


@tilelang.jit
def paged(P=1 << 20, D=4096):
    """A page number out of memory may be any: its offset needs 64 bits."""
    @T.prim_func
    def main(Table: T.Tensor((64,), "int32"), X: T.Tensor((P, D), "int8"), Y: T.Tensor((64, D), "int8")):
        with T.Kernel(64, threads=128) as b:
            page = Table[b]
            for j in T.Parallel(D):
                Y[b, j] = X[page, j]

    return main


@tilelang.jit
def atomics(M=1 << 16, N=1 << 16):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(M, threads=128) as b:
            for j in T.Parallel(N):
                T.atomic_add(Y[b, j], X[j])

    return main
