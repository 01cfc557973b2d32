# Sorting, scans, butterflies, searches and state machines by hand.
# verify: :bitonic
# verify: :oddeven
# verify: :topk
# verify: :welford
# verify: :fft
# verify: :maxpool
# verify: :steps lo=3 hi=44
# verify: :steps lo=20 hi=5
# verify: :insertion
# verify: :fib
# verify: :newton
# verify: :refs
# verify: :names int=7
import tilelang
import tilelang.language as T


# Bitonic sort of a shared row by threads.
@tilelang.jit(out_idx=[-1])
def bitonic(M=3, N=128, dtype="int32"):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(M, threads=N) as bx:
            tx = T.get_thread_binding()
            s = T.alloc_shared((N,), dtype)
            size = T.alloc_var("int32", init=2)
            stride = T.alloc_var("int32")
            s[tx] = X[bx, tx]
            T.sync_threads()
            while size <= N:
                stride = size // 2
                while stride > 0:
                    other = tx ^ stride
                    mine = s[tx]
                    his = s[other]
                    up = (tx & size) == 0
                    T.sync_threads()
                    low = (tx & stride) == 0
                    s[tx] = T.if_then_else(up == low, T.min(mine, his), T.max(mine, his))
                    T.sync_threads()
                    stride = stride // 2
                size = size * 2
            Y[bx, tx] = s[tx]

    return main


# Odd-even transposition as a tile program.
@tilelang.jit(out_idx=[-1])
def oddeven(N=33):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((N,), "float32")
            T.copy(X, s)
            for r in T.serial(N):
                for i in T.Parallel(N // 2):
                    a = 2 * i + r % 2
                    if a + 1 < N:
                        lo = T.min(s[a], s[a + 1])
                        hi = T.max(s[a], s[a + 1])
                        s[a] = lo
                        s[a + 1] = hi
            T.copy(s, Y)

    return main


# Top k by k rounds of argmax.
@tilelang.jit(out_idx=[-2, -1])
def topk(M=9, N=40, k=5, b=4):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), V: T.Tensor((M, k), "float32"), I: T.Tensor((M, k), "int32")):
        with T.Kernel(T.ceildiv(M, b), threads=128) as bx:
            x = T.alloc_fragment((b, N), "float32")
            wide = T.alloc_fragment((b, N), "int32")
            v = T.alloc_fragment((b,), "float32")
            w = T.alloc_fragment((b,), "int32")
            T.copy(X[bx * b, 0], x)
            for r in T.serial(k):
                T.reduce_max(x, v, dim=1)
                for i, j in T.Parallel(b, N):
                    wide[i, j] = T.if_then_else(v[i] == x[i, j], j, -1)
                T.reduce_max(wide, w, dim=1)
                for i, j in T.Parallel(b, N):
                    x[i, j] = T.if_then_else(j == w[i], -T.infinity("float32"), x[i, j])
                for i in T.Parallel(b):
                    V[bx * b + i, r] = v[i]
                    I[bx * b + i, r] = w[i]

    return main


# Layer norm by Welford over chunks of columns.
@tilelang.jit(out_idx=[-3, -2, -1])
def welford(M=10, N=1000, b=4, c=96):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32"), Mean: T.Tensor((M,), "float32"), Rstd: T.Tensor((M,), "float32")):
        with T.Kernel(T.ceildiv(M, b), threads=96) as bx:
            x = T.alloc_fragment((b, c), "float32")
            mean = T.alloc_fragment((b,), "float32")
            m2 = T.alloc_fragment((b,), "float32")
            cm = T.alloc_fragment((b,), "float32")
            c2 = T.alloc_fragment((b,), "float32")
            T.clear(mean)
            T.clear(m2)
            for k in T.serial(T.ceildiv(N, c)):
                n = T.min(c, N - k * c)
                old = k * c
                T.copy(X[bx * b, k * c], x)
                T.reduce_sum(x, cm, dim=1)
                for i in T.Parallel(b):
                    cm[i] = cm[i] / n
                for i, j in T.Parallel(b, c):
                    x[i, j] = T.if_then_else(j < n, (x[i, j] - cm[i]) * (x[i, j] - cm[i]), 0.0)
                T.reduce_sum(x, c2, dim=1)
                for i in T.Parallel(b):
                    delta = cm[i] - mean[i]
                    m2[i] = m2[i] + c2[i] + delta * delta * (T.cast(old, "float32") * n / (old + n))
                    mean[i] = mean[i] + delta * n / (old + n)
            for i in T.Parallel(b):
                m2[i] = T.rsqrt(m2[i] / N + 1e-6)
            for k in T.serial(T.ceildiv(N, c)):
                T.copy(X[bx * b, k * c], x)
                for i, j in T.Parallel(b, c):
                    x[i, j] = (x[i, j] - mean[i]) * m2[i]
                T.copy(x, Y[bx * b, k * c])
            T.copy(mean, Mean[bx * b])
            T.copy(m2, Rstd[bx * b])

    return main


# FFT of 64 points: bit reversal by hand, butterflies in shared memory.
@tilelang.jit(out_idx=[-2, -1])
def fft(B=3, logn=6):
    n = 1 << logn

    @T.prim_func
    def main(Xr: T.Tensor((B, n), "float32"), Xi: T.Tensor((B, n), "float32"), Yr: T.Tensor((B, n), "float32"), Yi: T.Tensor((B, n), "float32")):
        with T.Kernel(B, threads=n // 2) as b:
            re = T.alloc_shared((n,), "float32")
            im = T.alloc_shared((n,), "float32")
            for i in T.Parallel(n):
                j = T.alloc_var("int32", init=0)
                for k in T.unroll(logn):
                    j = j | (((i >> k) & 1) << (logn - 1 - k))
                re[j] = Xr[b, i]
                im[j] = Xi[b, i]
            for s in T.serial(logn):
                for t in T.Parallel(n // 2):
                    half = 1 << s
                    p = t // half * (2 * half) + t % half
                    ang = -3.14159265358979 * T.cast(t % half, "float32") / T.cast(half, "float32")
                    wr = T.cos(ang)
                    wi = T.sin(ang)
                    ar = re[p]
                    ai = im[p]
                    br = re[p + half] * wr - im[p + half] * wi
                    bi = re[p + half] * wi + im[p + half] * wr
                    re[p] = ar + br
                    im[p] = ai + bi
                    re[p + half] = ar - br
                    im[p + half] = ai - bi
            T.copy(re, Yr[b, 0])
            T.copy(im, Yi[b, 0])

    return main


@tilelang.jit(out_idx=[-2, -1])
def maxpool(H=13, W=10, k=3, stride=2, pad=1, dtype="float32"):
    OH = (H + 2 * pad - k) // stride + 1
    OW = (W + 2 * pad - k) // stride + 1

    @T.prim_func
    def main(X: T.Tensor((H, W), dtype), Y: T.Tensor((OH, OW), dtype), I: T.Tensor((OH, OW), "int32")):
        with T.Kernel(1, threads=64):
            for i, j in T.Parallel(OH, OW):
                best = T.alloc_var(dtype)
                at = T.alloc_var("int32")
                best = -T.infinity(dtype)
                at = -1
                for y, x in T.grid(k, k):
                    h = i * stride + y - pad
                    w = j * stride + x - pad
                    if 0 <= h < H and 0 <= w < W:
                        if X[h, w] > best:
                            best = X[h, w]
                            at = h * W + w
                Y[i, j] = best
                I[i, j] = at

    return main


# Serial loops with steps, downwards, from run-time bounds; break and continue.
@tilelang.jit(out_idx=[-1])
def steps(N=50):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), lo: T.int32, hi: T.int32, Y: T.Tensor((6,), "int32")):
        with T.Kernel(1, threads=32):
            s = T.alloc_var("int32", init=0)
            for i in T.serial(lo, hi, 3):
                s += X[i]
            Y[0] = s
            s = 0
            for i in T.serial(hi - 1, lo - 1, -1):
                if X[i] < 0:
                    continue
                s = s * 3 + X[i]
                if s > 1000:
                    break
            Y[1] = s
            s = 0
            for i in range(N - 1, 0, -7):
                s = s * 2 + X[i]
            Y[2] = s
            s = 0
            for i in range(lo, hi, 4):
                for j in range(i):
                    if j > 5:
                        break
                    s += X[j] * i
            Y[3] = s
            s = 0
            for i in T.unroll(0, 10, 4):
                s += X[i] * (i + 1)
            Y[4] = s
            n = T.alloc_var("int32", init=5)
            s = 0
            while n >= 0:
                n -= 1
                if n < 0:
                    break
                if n == 2:
                    continue
                s += X[n]
            Y[5] = s

    return main


# Local arrays: a small insertion sort in each thread.
@tilelang.jit(out_idx=[-1])
def insertion(N=70, k=7, dtype="int16"):
    @T.prim_func
    def main(X: T.Tensor((N, k), dtype), Y: T.Tensor((N, k), dtype)):
        with T.Kernel(T.ceildiv(N, 32), threads=32) as bx:
            tx = T.get_thread_binding()
            v = T.alloc_local((k,), dtype)
            j = T.alloc_var("int32")
            if bx * 32 + tx < N:
                for i in T.unroll(k):
                    v[i] = X[bx * 32 + tx, i]
                for i in T.serial(1, k):
                    x = T.alloc_var(dtype)
                    x = v[i]
                    j = i - 1
                    while j >= 0 and v[T.max(j, 0)] > x:
                        v[j + 1] = v[j]
                        j -= 1
                    v[j + 1] = x
                for i in T.vectorized(k):
                    Y[bx * 32 + tx, i] = v[i]

    return main


# Loop-carried scalars of several types, swapped each step.
@tilelang.jit(out_idx=[-1])
def fib(N=10, steps=40):
    @T.prim_func
    def main(Y: T.Tensor((N,), "uint64")):
        with T.Kernel(N, threads=32) as b:
            x = T.alloc_var("uint64", init=0)
            y = T.alloc_var("uint64", init=1)
            for k in T.serial(steps + b):
                t = T.alloc_var("uint64")
                t = x + y
                x = y
                y = t
            Y[b] = x

    return main


@tilelang.jit(out_idx=[-1])
def newton(N=33, dtype="float64"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((N,), dtype)):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(N):
                g = T.alloc_var(dtype)
                n = T.alloc_var("int32", init=0)
                g = X[i]
                while T.abs(g * g - X[i]) > 1e-9 * X[i] and n < 100:
                    g = (g + X[i] / g) * 0.5
                    n += 1
                Y[i] = g

    return main


@T.macro
def bump(v: T.Ref, by):
    v += by


@T.macro
def stats(tile, lo: T.Ref, hi: T.Ref, n):
    for i in T.serial(n):
        if tile[i] < lo:
            lo = tile[i]
        if tile[i] > hi:
            hi = tile[i]
            bump(hi, 0.0)


@tilelang.jit(out_idx=[-1])
def refs(M=3, N=17):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, 3), "float32")):
        with T.Kernel(M, threads=32) as b:
            t = T.alloc_shared((N,), "float32")
            lo = T.alloc_var("float32", init=1e30)
            hi = T.alloc_var("float32", init=-1e30)
            c = T.alloc_var("int32")
            T.copy(X[b, 0], t)
            stats(t, lo, hi, N)
            bump(c, 5)
            bump(c, b)
            bump(Y[b, 2], 0.0)
            Y[b, 0] = lo
            Y[b, 1] = hi
            Y[b, 2] = c

    return main


# Names of C, CUDA and Python in odd places.
@tilelang.jit(out_idx=[-1])
def names(N=20):
    @T.prim_func
    def main(float: T.Tensor((N,), "float32"), threadIdx: T.Tensor((N,), "float32"), int: T.int32, restrict: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as blockIdx:
            half = T.alloc_shared((N,), "float32")
            auto = T.alloc_fragment((N,), "float32")
            warpSize = T.alloc_var("int32", init=3)
            T.copy(float, half)
            for char in T.Parallel(N):
                auto[char] = half[char] * int + threadIdx[char]
            for register in T.serial(warpSize):
                for volatile in T.Parallel(N):
                    auto[volatile] = auto[volatile] + 1.0 * register
            T.copy(auto, restrict)

    return main
