# Several launches in one function, with and without temporaries; grids of one to three dimensions.
# verify: :two_steps N=100
# verify: :workspace M=33 N=40
# verify: :grids A=3 B=4 C=5
# verify: :outputs N=33
# verify: :conditional n=1
# verify: :conditional n=10
# verify: :swizzled M=70 N=90
# verify: :grid_sync N=40
# verify: :nothing n=0
# verify: :default_threads N=10
import tilelang
import tilelang.language as T


@tilelang.jit
def two_steps(N=100):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32"), Z: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 32), threads=32) as bx:
            for i in T.Parallel(32):
                if bx * 32 + i < N:
                    Y[bx * 32 + i] = X[bx * 32 + i] * 2
        with T.Kernel(T.ceildiv(N, 16), threads=16) as bx:
            for i in T.Parallel(16):
                if bx * 16 + i < N:
                    Z[bx * 16 + i] = Y[N - 1 - bx * 16 - i] + 1

    return main


@tilelang.jit
def workspace(M=33, N=40):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M,), "float32")):
        part = T.alloc_global((M, 2), "float32")
        with T.Kernel(2, M, threads=32) as (bx, by):
            f = T.alloc_fragment((N // 2,), "float32")
            s = T.alloc_fragment((1,), "float32")
            T.copy(X[by, bx * (N // 2)], f)
            T.reduce_sum(f, s, dim=0)
            part[by, bx] = s[0]
        with T.Kernel(M, threads=1) as bx:
            Y[bx] = part[bx, 0] + part[bx, 1]

    return main


@tilelang.jit
def grids(A=3, B=4, C=5):
    @T.prim_func
    def main(X: T.Tensor((A,), "int32"), Y: T.Tensor((A, B), "int32"), Z: T.Tensor((A, B, C), "int32")):
        with T.Kernel(A, threads=1) as bx:
            X[bx] = bx
        with T.Kernel(A, B, threads=(1, 1)) as (bx, by):
            Y[bx, by] = bx * 10 + by
        with T.Kernel(A, B, C, threads=(1, 1, 1)) as (bx, by, bz):
            Z[bx, by, bz] = bx * 100 + by * 10 + bz + T.get_block_binding(1)

    return main


@tilelang.jit
def outputs(N=33):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32")):
        Y = T.empty((N,), "float32")
        Z = T.empty((N, 2), "int32")
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                Y[i] = X[i] * 2
                Z[i, 0] = i
                Z[i, 1] = T.cast(X[i], "int32")
        return Y, Z

    return main


@tilelang.jit
def conditional(N=10):
    @T.prim_func
    def main(n: T.int32, X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(n, threads=1) as bx:
            if bx < N:
                Y[bx] = X[bx]
        if n > 5:
            with T.Kernel(N, threads=1) as bx:
                Y[bx] = Y[bx] + 100

    return main


@tilelang.jit
def swizzled(M=70, N=90, b=16):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, b), T.ceildiv(M, b), threads=32) as (bx, by):
            T.use_swizzle(panel_size=3, order="column")
            s = T.alloc_shared((b, b), "float32")
            T.copy(X[by * b, bx * b], s)
            T.copy(s, Y[by * b, bx * b])

    return main


@tilelang.jit
def nothing():
    """A grid of no blocks changes nothing."""
    n = T.dynamic("n")

    @T.prim_func
    def main(X: T.Tensor((n,), "float32"), Y: T.Tensor((4,), "float32")):
        with T.Kernel(T.ceildiv(n, 16), threads=16) as bx:
            Y[0] = X[0]
        with T.Kernel(4, threads=1) as bx:
            Y[bx] = bx

    return main


@tilelang.jit
def default_threads(N=10):
    @T.prim_func
    def main(Y: T.Tensor((N,), "int32")):
        with T.Kernel(N) as bx:
            Y[bx] = T.get_thread_extent() + T.get_block_extent(0)

    return main


@tilelang.jit
def grid_sync(N=40):
    """All blocks meet: what each wrote before, every other reads after."""

    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32"), Z: T.Tensor((N,), "float32")):
        with T.Kernel(N, threads=1) as bx:
            Y[bx] = X[bx] * 2
            T.sync_grid()
            Z[bx] = Y[N - 1 - bx]

    return main
