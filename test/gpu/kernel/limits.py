"""Kernels that ask for more than an architecture has: test/gpu/limits.sh."""
import tilelang
import tilelang.language as T


@tilelang.jit
def shared(N=256, dtype="float32"):
    """Two tiles in use at once; one of them alone fits everywhere but on sm_75."""
    @T.prim_func
    def main(X: T.Tensor((128, N), dtype), Y: T.Tensor((128, N), dtype)):
        with T.Kernel(1, threads=128) as b:
            p = T.alloc_shared((128, N), dtype)
            q = T.alloc_shared((128, N), dtype)
            T.copy(X, p)
            T.copy(X, q)
            for i, j in T.Parallel(128, N):
                Y[i, j] = p[127 - i, j] + q[i, N - 1 - j]

    return main


@tilelang.jit
def registers(N=512, threads=128):
    @T.prim_func
    def main(X: T.Tensor((128, N), "float32"), Y: T.Tensor((128, N), "float32")):
        with T.Kernel(1, threads=threads) as b:
            f = T.alloc_fragment((128, N), "float32")
            T.copy(X, f)
            T.copy(f, Y)

    return main


@tilelang.jit
def array(N=200000):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((32,), "float32")):
        with T.Kernel(1, threads=32) as b:
            a = T.alloc_local((N,), "float32")
            tx = T.get_thread_binding()
            for i in T.serial(N):
                a[i] = X[i] + tx
            Y[tx] = a[N - 1 - tx]

    return main


@tilelang.jit
def moves(less=24, more=240, threads=384):
    @T.prim_func
    def main(X: T.Tensor((128,), "float32"), Y: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=threads) as b:
            s = T.alloc_shared((128,), "float32")
            full = T.alloc_barrier(128)
            tx = T.get_thread_binding()
            with T.ws(0):
                T.dec_max_nreg(less)
                s[tx] = X[tx]
                T.barrier_arrive(full[0])
            with T.ws(1, 2):
                T.inc_max_nreg(more)
                T.barrier_wait(full[0], 0)
                if tx < 256:
                    Y[tx - 128] = s[255 - tx]

    return main


@tilelang.jit
def side_by_side(blocks=4, threads=512, rows=64):
    @T.prim_func
    def main(X: T.Tensor((rows, 128), "float32"), Y: T.Tensor((rows, 128), "float32")):
        with T.Kernel(1, threads=threads) as b:
            T.annotate_min_blocks_per_sm(blocks)
            s = T.alloc_shared((rows, 128), "float32")
            T.copy(X, s)
            for i, j in T.Parallel(rows, 128):
                Y[i, j] = s[rows - 1 - i, j]

    return main


@tilelang.jit
def large(M=256, N=256, K=256, dtype="float16"):
    """More than 48 KiB of shared memory, which the launch has to ask for."""
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 128), T.ceildiv(M, 128), threads=128) as (bx, by):
            a = T.alloc_shared((128, 64), dtype)
            b = T.alloc_shared((64, 128), dtype)
            c = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, 64), num_stages=3):
                T.copy(A[by * 128, k * 64], a)
                T.copy(B[k * 64, bx * 128], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * 128, bx * 128])

    return main
