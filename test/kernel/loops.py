# Loops: steps, negative steps, unroll, vectorized, grid, while, break, continue, mutable scalars.
# verify: :vectors
# verify: :nothing
# verify: :steps N=40
# verify: :unrolled N=24
# verify: :unrolled_names N=24
# verify: :vectors N=64
# verify: :nests M=5 N=7 K=3
# verify: :whiles N=50
# verify: :breaks N=50
# verify: :bounds N=30 n=5
# verify: :vars N=20
# verify: :nested_parallel M=24 N=40
# verify: :empty N=10 n=2
import tilelang
import tilelang.language as T


@tilelang.jit
def steps(N=40):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((5, N), "float32")):
        with T.Kernel(1, threads=1) as bx:
            for i in T.serial(0, N, 3):
                Y[0, i] = X[i]
            for i in T.serial(N - 1, 0, -2):
                Y[1, i] = X[i] + i
            for i in range(2, N - 2):
                Y[2, i] = X[i] * i
            for i in T.Serial(N):
                Y[3, i] = X[N - 1 - i]
            for i in range(N - 1, -1, -1):
                Y[4, i] = i

    return main


@tilelang.jit
def unrolled(N=24):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((3, N), "float32")):
        with T.Kernel(1, threads=1) as bx:
            for i in T.unroll(N):
                Y[0, i] = X[i] * 2
            for i in T.unroll(N // 4, explicit=True):
                Y[1, i] = X[i] + i
            for i in T.unroll(1, N, unroll_factor=4):
                Y[2, i] = X[i] - X[i - 1]

    return main


@tilelang.jit
def unrolled_names(N=24):
    """Names bound inside a copied body are each copy's own."""

    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=1) as bx:
            for i in T.unroll(4, explicit=True):
                v = X[i] * 2
                w = v + i
                if w > 0:
                    u = w * w
                    Y[i] = u + v
                for j in T.unroll(2, explicit=True):
                    z = w + X[j]
                    Y[8 + i * 2 + j] = z * z

    return main


@tilelang.jit
def vectors(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((2, N), "float32")):
        with T.Kernel(1, threads=1) as bx:
            for i in T.serial(N // 8):
                for j in T.vectorized(8):
                    Y[0, i * 8 + j] = X[i * 8 + j] * 3
            Y[1, 0:N] = X[0:N]

    return main


@tilelang.jit
def nests(M=5, N=7, K=3):
    @T.prim_func
    def main(X: T.Tensor((M, N, K), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=1) as bx:
            for i, j in T.grid(M, N):
                Y[i, j] = 0
            for i, j, k in T.grid(M, N, K):
                Y[i, j] += X[i, j, k] * (i - j + k)

    return main


@tilelang.jit
def whiles(N=50):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((N,), "int32")):
        with T.Kernel(N, threads=1) as bx:
            n = T.alloc_var("int32")
            count = T.alloc_var("int32", init=0)
            n = T.abs(X[bx]) + bx + 1
            while n != 1:
                if n % 2 == 0:
                    n = n // 2
                else:
                    n = 3 * n + 1
                count += 1
            Y[bx] = count

    return main


@tilelang.jit
def breaks(N=50):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((4,), "float32")):
        with T.Kernel(1, threads=1) as bx:
            total = T.alloc_var("float32")
            odd = T.alloc_var("float32")
            inner = T.alloc_var("int32")
            for i in T.serial(N):
                if X[i] > 1.5:
                    break
                total = total + X[i]
            for i in T.serial(N):
                if i % 2 == 0:
                    continue
                odd += X[i]
            for i in T.serial(5):
                for j in T.serial(5):
                    if j > i:
                        break
                    if j == 2:
                        continue
                    inner += i * 10 + j
            Y[0] = total
            Y[1] = odd
            Y[2] = inner
            for i in T.serial(N):
                if X[i] < 0:
                    Y[3] = i
                    T.loop_break()

    return main


@tilelang.jit
def bounds(N=30):
    """Loop bounds that are values."""

    @T.prim_func
    def main(n: T.int32, X: T.Tensor((N,), "int32"), Y: T.Tensor((N,), "int32")):
        with T.Kernel(N, threads=1) as bx:
            acc = T.alloc_var("int32")
            for i in T.serial(n):
                acc += i
            for i in T.serial(bx, n + bx):
                acc += X[i % N]
            for i in range(T.max(X[bx], 0)):
                acc += 1000
            Y[bx] = acc

    return main


@tilelang.jit
def vars(N=20):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N, 4), "float32")):
        with T.Kernel(N, threads=1) as bx:
            a = T.alloc_var("float32", 3.0)
            b = T.alloc_var("float16", init=1.5)
            c = T.alloc_var("int8", init=100)
            d = T.alloc_var("bool", init=False)
            loc = T.alloc_local((4,), "float32")
            c += 100
            a = a * X[bx]
            b = b + X[bx]
            d = X[bx] > 0
            for i in T.serial(4):
                loc[i] = a + i
            Y[bx, 0] = loc[3]
            Y[bx, 1] = b
            Y[bx, 2] = c
            if d:
                Y[bx, 3] = 1
            else:
                Y[bx, 3] = loc[0]

    return main


@tilelang.jit
def nested_parallel(M=24, N=40):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((M, N), "float32")
            for i in T.Parallel(M):
                for j in T.Parallel(N):
                    f[i, j] = X[i, j] * i
            for i, j in T.Parallel(M, N):
                f[i, j] += j
            for i in T.serial(M):
                for j in T.Parallel(N):
                    Y[i, j] = f[i, j]

    return main


@tilelang.jit
def empty(N=10):
    """Loops of no iterations, blocks of nothing."""

    @T.prim_func
    def main(n: T.int32, X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            T.copy(X, Y)
            for i in T.serial(n - n):
                Y[i] = 7
            for i in T.serial(0):
                Y[i] = 8
            if n > 1000:
                pass

    return main


# T.vectorized: neighbours go together where they may, and where a store reads what it writes they do not.
@tilelang.jit
def vectors(N=64, step=4):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32"), Z: T.Tensor((N,), "float32"),
             W: T.Tensor((N // step,), "float32")):
        with T.Kernel(1, threads=N // step) as bx:
            t = T.get_thread_binding()
            for i in T.vectorized(step):
                Y[t * step + i] = X[t * step + i] * 2
            for i in T.vectorized(step):
                Z[N - 1 - (t * step + i)] = X[t * step + i]
            own = T.alloc_local((8,), "float32")
            own[0] = X[t]
            for i in T.vectorized(4):
                own[i + 1] = own[i] + 1
            W[t] = own[4]

    return main


# A loop without a statement.
@tilelang.jit
def nothing(N=40):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for k in T.serial(N):
                pass
            T.copy(X, Y)

    return main
