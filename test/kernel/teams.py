# What a part of the block does together: roles, ranges of warps, their fragments and barriers.
# verify: :roles
# verify: :roles threads=320 M=40
# verify: :outside
# verify: :ranges
# verify: :ranges threads=96 cut=32
# verify: :products
# verify: :rows
# verify: :rounds
# verify: :one_thread
# verify: :let_bound
# verify: :around_product
# verify: :mixed
# verify: :arms
# verify: :handed_over
# verify: :handed_over N=96 R=3
# verify: :one_operand
# verify: :one_operand K=192
import tilelang
import tilelang.language as T


# Two groups, each with tiles of its own that it reads turned; then the block reads both.
@tilelang.jit
def roles(M=33, N=48, threads=256):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            s = T.alloc_shared((M, N), "float32")
            u = T.alloc_shared((M, N), "float32")
            with T.ws(0):
                f = T.alloc_fragment((M, N), "float32")
                T.copy(A, s)
                for i, j in T.Parallel(M, N):
                    f[i, j] = s[M - 1 - i, N - 1 - j] * 2
                T.copy(f, B)
            with T.ws(1):
                for i, j in T.Parallel(M, N):
                    u[i, j] = A[i, j] + 1
            for i, j in T.Parallel(M, N):
                C[i, j] = u[M - 1 - i, j] + s[i, N - 1 - j]

    return main


# A fragment of one group that the block clears and stores.
@tilelang.jit
def outside(M=64, N=48):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=256) as bx:
            f = T.alloc_fragment((M, N), "float32")
            T.fill(f, 3)
            with T.ws(1):
                for i, j in T.Parallel(M, N):
                    f[i, j] += A[i, j]
            T.copy(f, B)

    return main


@tilelang.jit
def ranges(M=24, N=40, threads=160, cut=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), B: T.Tensor((2, M, N), "float16")):
        with T.Kernel(1, threads=threads) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((2, M, N), "float16")
            if t < cut:
                T.copy(A, s[0, 0:M, 0:N])
                for i, j in T.Parallel(M, N):
                    B[0, i, j] = s[0, M - 1 - i, j]
            else:
                T.fill(s[1, 0:M, 0:N], 2)
                for i, j in T.Parallel(M, N):
                    B[1, i, j] = s[1, i, N - 1 - j] + A[i, j]

    return main


# Each group has a product of its own.
@tilelang.jit
def products(M=64, N=64, K=32):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, 2 * N), "float16"), C: T.Tensor((M, 2 * N), "float32")):
        with T.Kernel(1, threads=256) as bx:
            a = T.alloc_shared((M, K), "float16")
            b = T.alloc_shared((2, K, N), "float16")
            c = T.alloc_fragment((M, N), "float32")
            d = T.alloc_fragment((M, N), "float32")
            T.copy(A, a)
            with T.ws(0):
                T.copy(B[0:K, 0:N], b[0, 0:K, 0:N])
                T.gemm(a, b[0, 0:K, 0:N], c, clear_accum=True)
                T.copy(c, C[0:M, 0:N])
            with T.ws(1):
                T.copy(B[0:K, N : 2 * N], b[1, 0:K, 0:N])
                T.gemm(a, b[1, 0:K, 0:N], d, clear_accum=True)
                T.copy(d, C[0:M, N : 2 * N])

    return main


# A reduction and what follows it, by two warps of five.
@tilelang.jit
def rows(M=20, N=72):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=160) as bx:
            t = T.get_thread_binding()
            f = T.alloc_fragment((M, N), "float32")
            m = T.alloc_fragment((M,), "float32")
            if t >= 64 and t < 128:
                T.copy(A, f)
                T.reduce_max(f, m, dim=1)
                for i in T.Parallel(M):
                    B[i] = m[i] * 2

    return main


# A loop around a role: what its end leaves meets its start.
@tilelang.jit
def rounds(N=96, R=3):
    @T.prim_func
    def main(A: T.Tensor((R, N), "float32"), B: T.Tensor((R, N), "float32")):
        with T.Kernel(1, threads=256) as bx:
            s = T.alloc_shared((N,), "float32")
            for r in T.serial(R):
                with T.ws(1):
                    T.copy(A[r, 0:N], s)
                    for i in T.Parallel(N):
                        B[r, i] = s[N - 1 - i]

    return main


@tilelang.jit
def one_thread(N=40):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((N,), "float32")
            if t == 37:
                T.copy(A, s)
                for i in T.Parallel(N):
                    B[i] = s[N - 1 - i]

    return main


@tilelang.jit
def let_bound(N=128, threads=128):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(2, threads=threads) as bx:
            t = T.get_thread_binding()
            w = t // 32
            s = T.alloc_shared((N,), "float32")
            if w == 2 and bx == 1:
                T.copy(A, s)
                for i in T.Parallel(N):
                    B[i] = s[N - 1 - i]

    return main


# The block clears and stores what one group multiplies.
@tilelang.jit
def around_product(M=32, N=48, K=32):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=256) as bx:
            a = T.alloc_shared((M, K), "float16")
            b = T.alloc_shared((K, N), "float16")
            c = T.alloc_fragment((M, N), "float32")
            T.clear(c)
            T.copy(A, a)
            T.copy(B, b)
            with T.ws(1):
                T.gemm(a, b, c)
            T.copy(c, C)

    return main


# The block brings together a fragment of one group and one of its own.
@tilelang.jit
def mixed(M=24, N=40):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32"), C: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=256) as bx:
            f = T.alloc_fragment((M, N), "float32")
            g = T.alloc_fragment((M, N), "float32")
            m = T.alloc_fragment((M,), "float32")
            T.copy(A, g)
            with T.ws(1):
                for i, j in T.Parallel(M, N):
                    f[i, j] = A[M - 1 - i, j] * 2
            for i, j in T.Parallel(M, N):
                f[i, j] += g[i, j]
            T.reduce_sum(f, m, dim=1)
            for i, j in T.Parallel(M, N):
                B[i, j] = f[i, j] - m[i]
            T.copy(m, C)

    return main


# A chain of ranges in any order: what an arm leaves over lies on both sides of it.
@tilelang.jit
def arms(N=64):
    @T.prim_func
    def main(A: T.Tensor((3, N), "float32"), B: T.Tensor((3, N), "float32")):
        with T.Kernel(1, threads=192) as bx:
            a = T.alloc_shared((N,), "float32")
            b = T.alloc_shared((N,), "float32")
            c = T.alloc_shared((N,), "float32")
            tx = T.get_thread_binding()
            if tx >= 32 and tx < 64:
                T.copy(A[0, 0], a)
                for i in T.Parallel(N):
                    B[0, i] = a[N - 1 - i]
            elif tx >= 64 and tx < 192:
                T.copy(A[1, 0], b)
                for i in T.Parallel(N):
                    B[1, i] = b[N - 1 - i] * 2
            elif tx < 32:
                T.copy(A[2, 0], c)
                for i in T.Parallel(N):
                    B[2, i] = c[N - 1 - i] * 3

    return main


# What a role wrote is read by threads outside of it, and within it by each other, without a barrier by hand.
@tilelang.jit
def handed_over(N=256, R=1):
    @T.prim_func
    def main(A: T.Tensor((R, N), "float32"), B: T.Tensor((R, N), "float32"), C: T.Tensor((R, 128), "float32")):
        with T.Kernel(1, threads=256) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((N,), "float32")
            u = T.alloc_shared((128,), "float32")
            for r in T.serial(R):
                with T.ws(1):
                    T.copy(A[r, 0:N], s)
                    u[t - 128] = s[(t - 128) % N]
                    C[r, t - 128] = u[(t + 5) % 128]
                with T.ws(0):
                    u[t] = s[(t * 7) % N] + 1
                if t < N:
                    B[r, t] = s[N - 1 - t] + u[t % 128]

    return main


# Two roles multiply one tile by tiles of their own: reading it together they need not wait for each other.
@tilelang.jit
def one_operand(M=64, N=128, K=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=256) as bx:
            a = T.alloc_shared((M, 64), "float16")
            b0 = T.alloc_shared((64, N // 2), "float16")
            b1 = T.alloc_shared((64, N // 2), "float16")
            c0 = T.alloc_fragment((M, N // 2), "float32")
            c1 = T.alloc_fragment((M, N // 2), "float32")
            with T.ws(0):
                T.clear(c0)
            with T.ws(1):
                T.clear(c1)
            for k in T.serial(K // 64):
                T.copy(A[0, k * 64], a)
                with T.ws(1):
                    T.copy(B[k * 64, N // 2], b1)
                    T.gemm(a, b1, c1)
                with T.ws(0):
                    T.copy(B[k * 64, 0], b0)
                    T.gemm(a, b0, c0)
            with T.ws(0):
                T.copy(c0, C[0, 0])
            with T.ws(1):
                T.copy(c1, C[0, N // 2])

    return main
