# Shared tiles that are never in use together share bytes: what comes next waits for what was there.
# verify: :phases N=96
# verify: :chain
# verify: :around_loop K=3
# verify: :around_loop K=0
# verify: :arms flag=0
# verify: :arms flag=1
# verify: :few_threads
# verify: :epilogue M=192 N=160 K=96 dtype=float16
# verify: :epilogue M=64 N=64 K=32 dtype=float32
# verify: :two_products dtype=float16
# verify: :two_products dtype=bfloat16 S=1
# verify: :two_loops dtype=float16 K=96
# verify: :histogram
# verify: :packed_after_wide
# verify: :by_hand
# verify: :teams
# verify: :teams_with_barriers
# verify: :stored_in_bulk
# verify: :stays dtype=float16
import tilelang
import tilelang.language as T


@tilelang.jit
def phases(N=96, D=64):
    """Each tile is dead when the next one is filled, by other threads than read it."""
    @T.prim_func
    def main(X: T.Tensor((N, D), "float32"), Y: T.Tensor((N, D), "float32"), Z: T.Tensor((D, N), "float32")):
        with T.Kernel(T.ceildiv(N, 32), threads=128) as b:
            p = T.alloc_shared((32, D), "float32")
            q = T.alloc_shared((D, 32), "float32")
            r = T.alloc_shared((32, D), "float16")
            f = T.alloc_fragment((32, D), "float32")
            T.copy(X[b * 32, 0], p)
            for i, j in T.Parallel(32, D):
                f[i, j] = p[31 - i, D - 1 - j] * 2
            for i, j in T.Parallel(D, 32):
                q[i, j] = X[b * 32 + j, i] + 1
            for i, j in T.Parallel(D, 32):
                Z[i, b * 32 + j] = q[D - 1 - i, 31 - j]
            T.copy(f, r)
            for i, j in T.Parallel(32, D):
                Y[b * 32 + i, j] = r[31 - i, D - 1 - j] + f[i, j]

    return main


@tilelang.jit
def chain():
    """A wide tile takes the place of two narrow ones, and two narrow ones take its."""
    @T.prim_func
    def main(X: T.Tensor((64, 64), "float32"), Y: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=64) as b:
            a = T.alloc_shared((32, 64), "float32")
            c = T.alloc_shared((32, 64), "float32")
            w = T.alloc_shared((64, 64), "float32")
            d = T.alloc_shared((32, 64), "float32")
            e = T.alloc_shared((32, 64), "float32")
            f = T.alloc_fragment((32, 64), "float32")
            g = T.alloc_fragment((64, 64), "float32")
            T.copy(X[0, 0], a)
            T.copy(X[32, 0], c)
            for i, j in T.Parallel(32, 64):
                f[i, j] = a[31 - i, 63 - j] - c[i, 63 - j]
            T.copy(X, w)
            for i, j in T.Parallel(64, 64):
                g[i, j] = w[63 - i, j] * 0.5
            for i, j in T.Parallel(32, 64):
                d[i, j] = f[i, j]
            for i, j in T.Parallel(32, 64):
                e[31 - i, j] = f[i, j] * 3
            for i, j in T.Parallel(64, 64):
                Y[i, j] = g[i, j] + d[i % 32, 63 - j] + e[31 - i % 32, 63 - j]

    return main


@tilelang.jit
def around_loop(K=3):
    @T.prim_func
    def main(X: T.Tensor((max(K, 1), 64), "float32"), Y: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64) as b:
            first = T.alloc_shared((64,), "float32")
            turn = T.alloc_shared((64,), "float32")
            kept = T.alloc_shared((64,), "float32")
            last = T.alloc_shared((64,), "float32")
            acc = T.alloc_fragment((64,), "float32")
            T.copy(X[0, :], first)
            for i in T.Parallel(64):
                acc[i] = first[63 - i]
            T.fill(kept, 1)
            for k in T.serial(K):
                T.copy(X[k, :], turn)
                for i in T.Parallel(64):
                    acc[i] = acc[i] * 0.5 + turn[63 - i] * kept[(i + 7) % 64]
                T.copy(acc, kept)
            T.copy(acc, last)
            for i in T.Parallel(64):
                Y[i] = last[(i + 1) % 64] + last[63 - i]

    return main


@tilelang.jit
def arms(flag=0):
    """A condition that is the same for all threads: one arm runs, after what came before."""
    @T.prim_func
    def main(X: T.Tensor((64,), "float32"), F: T.Tensor((1,), "int32"), Y: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64) as b:
            p = T.alloc_shared((64,), "float32")
            q = T.alloc_shared((64,), "float32")
            r = T.alloc_shared((64,), "float32")
            f = T.alloc_fragment((64,), "float32")
            T.copy(X, p)
            for i in T.Parallel(64):
                f[i] = p[63 - i]
            if F[0] % 2 == flag:
                for i in T.Parallel(64):
                    q[63 - i] = f[i] * 2
                for i in T.Parallel(64):
                    f[i] = q[i]
            else:
                for i in T.Parallel(64):
                    r[(i + 1) % 64] = f[i] * 3
                for i in T.Parallel(64):
                    f[i] = r[i] + 1
            for i in T.Parallel(64):
                p[i] = f[i]
            for i in T.Parallel(64):
                Y[i] = p[63 - i]

    return main


@tilelang.jit
def few_threads():
    """One thread, then one warp, then all."""
    @T.prim_func
    def main(X: T.Tensor((128,), "float32"), Y: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=128) as b:
            one = T.alloc_shared((128,), "float32")
            warp = T.alloc_shared((128,), "float32")
            all = T.alloc_shared((128,), "float32")
            v = T.alloc_local((1,), "float32")
            tx = T.get_thread_binding()
            if tx == 5:
                for i in T.serial(128):
                    one[i] = X[i] * 2
            v[0] = one[127 - tx]
            if tx < 32:
                for i in T.serial(4):
                    warp[tx * 4 + i] = X[tx * 4 + i] + 1
            v[0] = v[0] + warp[(tx + 40) % 128]
            all[tx] = v[0]
            Y[tx] = all[127 - tx]

    return main


@tilelang.jit
def epilogue(M=192, N=160, K=96, bm=64, bn=64, bk=32, S=2, dtype="float16"):
    """The result leaves through a tile that takes the place of the operands."""
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            out = T.alloc_shared((bm, bn), dtype)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=S):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, out)
            T.copy(out, C[by * bm, bx * bn])

    return main


@tilelang.jit
def two_products(M=64, N=64, K=128, bk=64, S=2, dtype="float16"):
    """The first product becomes an operand of a second one, in the place of the first's operands."""
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), D: T.Tensor((N, 64), dtype),
             C: T.Tensor((M, 64), dtype)):
        with T.Kernel(1, threads=128) as b_:
            a = T.alloc_shared((M, bk), dtype)
            b = T.alloc_shared((bk, N), dtype)
            p = T.alloc_shared((M, N), dtype)
            d = T.alloc_shared((N, 64), dtype)
            out = T.alloc_shared((M, 64), dtype)
            c = T.alloc_fragment((M, N), "float32")
            e = T.alloc_fragment((M, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(K // bk, num_stages=S):
                T.copy(A[0, k * bk], a)
                T.copy(B[k * bk, 0], b)
                T.gemm(a, b, c)
            T.copy(c, p)
            T.copy(D, d)
            T.clear(e)
            T.gemm(p, d, e)
            T.copy(e, out)
            T.copy(out, C)

    return main


@tilelang.jit
def two_loops(M=64, N=64, K=96, bk=32, S=3, dtype="float16"):
    """Two pipelined loops, one after the other, each with tiles of its own."""
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32"),
             D: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as b_:
            a = T.alloc_shared((M, bk), dtype)
            b = T.alloc_shared((bk, N), dtype)
            x = T.alloc_shared((M, bk), dtype)
            y = T.alloc_shared((bk, N), dtype)
            c = T.alloc_fragment((M, N), "float32")
            d = T.alloc_fragment((M, N), "float32")
            T.clear(c)
            T.clear(d)
            for k in T.Pipelined(K // bk, num_stages=S):
                T.copy(A[0, k * bk], a)
                T.copy(B[k * bk, 0], b)
                T.gemm(a, b, c)
            for k in T.Pipelined(K // bk, num_stages=S):
                T.copy(A[0, K - bk - k * bk], x)
                T.copy(B[k * bk, 0], y)
                T.gemm(x, y, d)
            T.copy(c, C)
            T.copy(d, D)

    return main


@tilelang.jit
def histogram(N=256):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), H: T.Tensor((16,), "int32"), G: T.Tensor((16,), "int32")):
        with T.Kernel(1, threads=64) as b:
            x = T.alloc_shared((N,), "int32")
            f = T.alloc_fragment((N,), "int32")
            h = T.alloc_shared((16,), "int32")
            g = T.alloc_shared((16,), "int32")
            T.copy(X, x)
            for i in T.Parallel(N):
                f[i] = x[N - 1 - i]
            T.clear(h)
            for i in T.Parallel(N):
                T.atomic_add(h[(f[i] % 16 + 16) % 16], 1)
            T.copy(h, H)
            T.clear(g)
            for i in T.Parallel(N):
                T.atomic_add(g[(f[i] // 16 % 16 + 16) % 16], 1)
            T.copy(g, G)

    return main


@tilelang.jit
def packed_after_wide():
    """Half bytes where there were words."""
    @T.prim_func
    def main(X: T.Tensor((64, 32), "float32"), P: T.Tensor((64, 32), "int4"), Y: T.Tensor((64, 32), "float32")):
        with T.Kernel(1, threads=32) as b:
            w = T.alloc_shared((64, 32), "float32")
            n = T.alloc_shared((64, 32), "int4")
            f = T.alloc_fragment((64, 32), "float32")
            T.copy(X, w)
            for i, j in T.Parallel(64, 32):
                f[i, j] = w[63 - i, 31 - j]
            T.copy(P, n)
            for i, j in T.Parallel(64, 32):
                Y[i, j] = f[i, j] + T.cast(n[63 - i, 31 - j], "float32")

    return main


@tilelang.jit
def by_hand():
    """Copies that the kernel waits for itself."""
    @T.prim_func
    def main(X: T.Tensor((128, 32), "float32"), Y: T.Tensor((128, 32), "float32")):
        with T.Kernel(1, threads=64) as b:
            p = T.alloc_shared((64, 32), "float32")
            q = T.alloc_shared((64, 32), "float32")
            r = T.alloc_shared((64, 32), "float32")
            f = T.alloc_fragment((64, 32), "float32")
            T.async_copy(X[0:64, :], p)
            T.async_copy(X[64:128, :], q)
            T.ptx_wait_group(0)
            T.sync_threads()
            for i, j in T.Parallel(64, 32):
                f[i, j] = p[63 - i, 31 - j] + q[i, 31 - j]
            T.copy(f, r)
            for i, j in T.Parallel(64, 32):
                Y[i, j] = r[63 - i, j]
                Y[i + 64, j] = r[i, 31 - j]

    return main


@tilelang.jit
def teams():
    @T.prim_func
    def main(X: T.Tensor((128,), "float32"), Y: T.Tensor((256,), "float32")):
        with T.Kernel(1, threads=256) as b:
            p = T.alloc_shared((128,), "float32")
            q = T.alloc_shared((128,), "float32")
            r = T.alloc_shared((256,), "float32")
            with T.ws(0):
                T.copy(X, p)
                for i in T.Parallel(128):
                    Y[i] = p[127 - i]
            with T.ws(1):
                for i in T.Parallel(128):
                    q[127 - i] = X[i] * 2
                for i in T.Parallel(128):
                    Y[128 + i] = q[i]
            for i in T.Parallel(256):
                r[255 - i] = Y[i]
            for i in T.Parallel(256):
                Y[i] = r[i] + 1

    return main


@tilelang.jit
def teams_with_barriers():
    """Only the kernel knows who meets whom: such tiles keep their own bytes."""
    @T.prim_func
    def main(X: T.Tensor((128,), "float32"), Y: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=256) as b:
            p = T.alloc_shared((128,), "float32")
            q = T.alloc_shared((128,), "float32")
            full = T.alloc_barrier(128)
            tx = T.get_thread_binding()
            with T.ws(0):
                p[tx] = X[tx] * 2
                T.barrier_arrive(full[0])
            with T.ws(1):
                q[tx - 128] = X[255 - tx]
                T.barrier_wait(full[0], 0)
                Y[tx - 128] = p[255 - tx] + q[tx - 128]

    return main


@tilelang.jit
def stored_in_bulk(M=128, N=64):
    """A bulk store still reads its tile when the next one is filled, unless it is waited for."""
    @T.prim_func
    def main(X: T.Tensor((M, N), "float16"), Y: T.Tensor((M, N), "float16"), Z: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(M, 64), threads=128) as b:
            p = T.alloc_shared((64, N), "float16")
            q = T.alloc_shared((64, N), "float16")
            f = T.alloc_fragment((64, N), "float16")
            T.copy(X[b * 64, 0], f)
            for i, j in T.Parallel(64, N):
                p[i, j] = f[i, j] * 2
            T.copy(p, Y[b * 64, 0])
            for i, j in T.Parallel(64, N):
                q[i, j] = f[i, j] + 1
            T.copy(q, Z[b * 64, 0])

    return main


@tilelang.jit
def stays(M=256, N=128, K=64, bm=64, bn=64, bk=32, dtype="float16"):
    """A block that takes one tile after the other: the end of one meets the start of the next."""
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(2, threads=128) as blk:
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            out = T.alloc_shared((bm, bn), dtype)
            for bx, by in T.Persistent([N // bn, M // bm], 2, blk):
                T.clear(c)
                for k in T.Pipelined(K // bk, num_stages=2):
                    T.copy(A[by * bm, k * bk], a)
                    T.copy(B[k * bk, bx * bn], b)
                    T.gemm(a, b, c)
                T.copy(c, out)
                T.copy(out, C[by * bm, bx * bn])

    return main
