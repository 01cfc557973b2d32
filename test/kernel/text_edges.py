# What faults put into the emitters slipped by (test/mutate/emit.py): values that tell similar texts apart.
# verify: :signs
# verify: :signs dtype=float16
# verify: :signs dtype=bfloat16
# verify: :signs dtype=float8_e5m2
# verify: :before
# verify: :before_tiles
# verify: :through dtype=float16
# verify: :through dtype=bfloat16
# verify: :through dtype=tfloat32
# verify: :through dtype=float8_e4m3fn
# verify: :through dtype=float8_e5m2
# verify: :previous
# verify: :previous dtype=float16
# verify: :previous dtype=int8
# verify: :far --gfx90a=on-chip-bytes --gfx942=on-chip-bytes
# verify: :far rows=60
# verify: :adds
# verify: :adds dtype=float16
# verify: :adds dtype=float32
# verify: :to_integers
# verify: :to_integers dtype=float64
# verify: :pairs dtype=float16
# verify: :pairs dtype=bfloat16
# verify: :pairs dtype=bfloat16 source=int32
# verify: :codes
# verify: :codes dtype=float16 bits=uint16
# verify: :nans
# verify: :nans dtype=float64
# verify: :to_half_bytes
# verify: :ties
# verify: :ties dtype=tfloat32 bits=10
# verify: :ties dtype=float16 bits=10
# verify: :ties dtype=float8_e8m0fnu bits=0
# verify: :extremes
# verify: :extremes dtype=bfloat16
# verify: :extremes dtype=float32
# verify: :extremes dtype=float64
# verify: :masked
# verify: :counts
# verify: :counts dtype=int64
# verify: :counts dtype=uint32
import tilelang
import tilelang.language as T


@tilelang.jit
def signs(N=256, dtype="float32"):
    """Integers of every width and sign become floats of every width, rounded once."""
    @T.prim_func
    def main(O: T.Tensor((6, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                wide = (T.cast(i, "int64") - 128) * 40007
                O[0, i] = T.cast(T.cast(wide, dtype), "float32")
                O[1, i] = T.cast(T.cast(T.cast(wide, "uint64"), dtype), "float32") * T.float32(0.5)
                O[2, i] = T.cast(T.cast(T.cast(wide, "int32"), dtype), "float32")
                O[3, i] = T.cast(T.cast(T.cast(wide, "uint32"), dtype), "float32") * T.float32(0.25)
                O[4, i] = T.cast(T.cast(T.cast(wide, "int16"), dtype), "float32")
                O[5, i] = T.cast(T.cast(T.cast(wide, "float64") * T.float64(-0.37), dtype), "float32")

    return main


@tilelang.jit
def adds(M=8, N=64, dtype="bfloat16"):
    """Neighbours are added to what a tensor holds, both of each pair."""
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), O: T.Tensor((M, N), dtype)):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((M, N), dtype)
            T.copy(A, a)
            for i, j in T.Parallel(M, N):
                T.atomic_add(O[i, j], a[i, j])

    return main


@tilelang.jit
def before(N=8, M=64):
    """Numbers of blocks and threads are signed: those before the first one are below 0."""
    @T.prim_func
    def main(A: T.Tensor((N, M), "int32"), B: T.Tensor((N, M), "int32")):
        with T.Kernel(N, threads=32) as bx:
            tx = T.get_thread_binding()
            for j in T.serial(M // 32):
                B[bx, j * 32 + tx] = (bx - 3) // 2 * 100 + (tx - 5) % 3 + T.if_then_else(bx - 1 < 0, A[bx, tx], 7) + T.max(tx - 9, -4)

    return main


@tilelang.jit
def before_tiles(N=8, M=4):
    """So are they where blocks go in another order."""
    @T.prim_func
    def main(B: T.Tensor((M, N), "int32")):
        with T.Kernel(N, M, threads=32) as (bx, by):
            T.use_swizzle(2)
            tx = T.get_thread_binding()
            if tx == 0:
                B[by, bx] = (bx - 3) // 2 * 100 + (by - 2) % 3 * 10 + T.if_then_else(bx - by < 0, 1, 2)

    return main


@tilelang.jit
def through(N=256, dtype="float16"):
    """A float that was narrow for a moment has its bits no more, whatever uses it."""
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), O: T.Tensor((3, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                x = T.cast(T.cast(A[i] * T.float32(1.2345), dtype), "float32")
                O[0, i] = x * T.float32(3)
                O[1, i] = T.max(T.cast(T.cast(A[i] / T.float32(3), dtype), "float32"), x)
                O[2, i] = T.if_then_else(x == A[i] * T.float32(1.2345), T.float32(1), T.float32(0))

    return main


@tilelang.jit
def previous(N=64, dtype="bfloat16"):
    """What was there before an update of a part of a word comes back."""
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), O: T.Tensor((N,), dtype), P: T.Tensor((N,), dtype)):
        with T.Kernel(1, threads=64) as bx:
            tx = T.get_thread_binding()
            P[tx] = T.atomic_max(O[tx], A[tx], return_prev=True)

    return main


@tilelang.jit
def far(M=310, K=128, rows=160):
    """Copies that run ahead, into shared memory past its first 64 KiB; the last tile is ragged."""
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((M, K), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((rows, K), "float32")
            for k in T.Pipelined(T.ceildiv(M, rows), num_stages=2):
                T.copy(A[k * rows, 0], a)
                for i, j in T.Parallel(rows, K):
                    if k * rows + i < M:
                        B[k * rows + i, j] = a[i, j] + 1

    return main


@tilelang.jit
def to_integers(dtype="float32"):
    """Floats about both ends of every integer's range, and past them: the nearest end, 0 of what is no number."""
    @T.prim_func
    def main(O: T.Tensor((8, 17, 8), "int64")):
        with T.Kernel(1, threads=32) as bx:
            for b, j in T.Parallel(17, 8):
                end = T.exp2(T.cast(b * 4, dtype))
                step = T.cast(j // 2 - 1, dtype) * T.cast(0.75, dtype)
                x = T.if_then_else(j == 7, (end - end) / (end - end), T.if_then_else(j % 2 == 0, end + step, step - end))
                O[0, b, j] = T.cast(T.cast(x, "int8"), "int64")
                O[1, b, j] = T.cast(T.cast(x, "uint8"), "int64")
                O[2, b, j] = T.cast(T.cast(x * T.cast(0.5, dtype), "int16"), "int64") + T.cast(T.cast(x * T.cast(0.125, dtype), "int16"), "int64")
                O[3, b, j] = T.cast(T.cast(x, "uint16"), "int64")
                O[4, b, j] = T.cast(T.cast(x * T.cast(0.5, dtype), "int32"), "int64")
                O[5, b, j] = T.cast(T.cast(x, "uint32"), "int64")
                O[6, b, j] = T.cast(x * T.cast(0.5, dtype), "int64")
                O[7, b, j] = T.cast(T.cast(x, "uint64"), "int64")

    return main


@tilelang.jit
def to_half_bytes():
    """Floats past both ends of 4 bits, and NaN."""
    @T.prim_func
    def main(O: T.Tensor((2, 64), "int32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(64):
                y = T.cast(i - 32, "float32") * T.float32(0.75)
                x = T.if_then_else(i == 32, y / y, y)
                O[0, i] = T.cast(T.cast(x, "int4"), "int32")
                O[1, i] = T.cast(T.cast(x, "uint4"), "int32")

    return main


@tilelang.jit
def pairs(N=512, dtype="float16", source="float64"):
    """Neighbours become narrow together only where they are rounded once all the same."""
    @T.prim_func
    def main(O: T.Tensor((N,), "uint16")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((N,), source)
            y = T.alloc_shared((N,), dtype)
            for i in T.Parallel(N):
                if source == "int32":
                    x[i] = (T.cast(1, source) << 30) + (T.cast(i, source) << 22) + 1
                else:
                    tie = T.cast(2 * i + 1, source) * T.float64(0.0009765625 / 2) + T.float64(1)
                    x[i] = tie + T.if_then_else(i % 2 == 0, T.float64(1e-12), T.float64(-1e-12))
            T.copy(x, y)
            for i in T.Parallel(N):
                O[i] = T.reinterpret(y[i], "uint16")

    return main


@tilelang.jit
def codes(N=256, dtype="float8_e5m2", bits="uint8"):
    """What is only moved keeps its code, infinities too."""
    @T.prim_func
    def main(O: T.Tensor((3, N), bits)):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_fragment((N,), dtype)
            s = T.alloc_shared((N,), dtype)
            for i in T.Parallel(N):
                code = T.cast(i, bits) if bits == "uint8" else T.cast(i * 257 - i % 3, bits)
                v = T.reinterpret(code, dtype)
                x[i] = T.if_then_else(T.isnan(v), T.cast(0, dtype), v)
            for i in T.Parallel(N):
                s[N - 1 - i] = x[i]
            for i in T.Parallel(N):
                O[0, i] = T.reinterpret(s[i], bits)
                O[1, i] = T.reinterpret(T.if_then_else(i % 2 == 0, s[i], s[(i + 1) % N]), bits)
                O[2, i] = T.reinterpret(T.nextafter(s[i], s[i]), bits)

    return main


@tilelang.jit
def nans(N=64, dtype="float32"):
    """The larger and the smaller of numbers, infinities and NaN, by either rule."""
    @T.prim_func
    def main(O: T.Tensor((4, N), "int32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                zero = T.cast(i, dtype) * T.cast(0, dtype)
                big = T.cast(3e38, dtype) * (T.cast(i // 16, dtype) + T.cast(1e-9, dtype))
                a = T.if_then_else(i % 4 == 0, zero / zero, T.if_then_else(i % 4 == 1, big * big, T.cast(i % 4, dtype) + big))
                b = T.if_then_else(i // 4 % 4 == 0, zero / zero, T.if_then_else(i // 4 % 4 == 1, -big * big, T.cast(2.5, dtype) + big))
                u = T.max(a, b)
                d = T.min(a, b)
                O[0, i] = T.if_then_else(T.isnan(u), -1, T.if_then_else(u == a, 1, 0) + T.if_then_else(u == b, 2, 0))
                O[1, i] = T.if_then_else(T.isnan(d), -1, T.if_then_else(d == a, 1, 0) + T.if_then_else(d == b, 2, 0))
                O[2, i] = T.if_then_else(u > d, 1, 0) + T.if_then_else(T.isinf(u), 2, 0) + T.if_then_else(T.isinf(d), 4, 0)
                O[3, i] = T.if_then_else(T.abs(a - b) < T.cast(1, dtype), 1, 0)

    return main


@tilelang.jit
def ties(N=32, dtype="bfloat16", bits=7):
    """Wide numbers halfway between two narrow ones, and next to that: rounded once, whatever is on the way."""
    @T.prim_func
    def main(O: T.Tensor((5, 3, N), "int32")):
        with T.Kernel(1, threads=32) as bx:
            for d, i in T.Parallel(3, N):
                half = 2 * i + 1
                a = (T.cast(1, "int32") << 30) + (T.cast(half, "int32") << (29 - bits)) + (d - 1)
                b = (T.cast(1, "uint32") << 31) + (T.cast(half, "uint32") << (30 - bits)) + T.cast(d, "uint32") - T.cast(1, "uint32")
                e = (T.cast(1, "int64") << 62) + (T.cast(half, "int64") << (61 - bits)) + T.cast(d - 1, "int64")
                f = (T.cast(1, "uint64") << 63) + (T.cast(half, "uint64") << (62 - bits)) + T.cast(d, "uint64") - T.cast(1, "uint64")
                g = T.cast((T.cast(1, "int64") << 50) + (T.cast(half, "int64") << (49 - bits)) + T.cast(d - 1, "int64"), "float64") * T.float64(2.0 ** -40)
                O[0, d, i] = T.reinterpret(T.cast(T.cast(a, dtype), "float32"), "int32")
                O[1, d, i] = T.reinterpret(T.cast(T.cast(b, dtype), "float32"), "int32")
                O[2, d, i] = T.reinterpret(T.cast(T.cast(e, dtype), "float32"), "int32")
                O[3, d, i] = T.reinterpret(T.cast(T.cast(f, dtype), "float32"), "int32")
                O[4, d, i] = T.reinterpret(T.cast(T.cast(g, dtype), "float32"), "int32")

    return main


@tilelang.jit
def extremes(N=64, dtype="float16"):
    """The larger and the smaller of what memory holds and an operand that may be NaN."""
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), O: T.Tensor((N,), dtype), P: T.Tensor((N,), dtype)):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            zero = A[tx] - A[tx]
            x = T.if_then_else(tx % 4 == 0, zero / zero, A[tx])
            T.atomic_max(O[tx], x)
            T.atomic_min(P[tx], x)

    return main


@tilelang.jit
def masked(M=7, N=64, rows=16):
    """Which rows of a tile are there stands in memory, and not past the last tile's."""
    @T.prim_func
    def main(A: T.Tensor((M * rows, N), "float32"), K: T.Tensor((M,), "int32"), B: T.Tensor((rows, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((rows, N), "float32")
            acc = T.alloc_fragment((rows, N), "float32")
            T.clear(acc)
            for k in T.Pipelined(M, num_stages=3):
                for i, j in T.Parallel(rows, N):
                    a[i, j] = T.if_then_else(K[k] > 0, A[k * rows + i, j], 0)
                for i, j in T.Parallel(rows, N):
                    acc[i, j] += a[i, j]
            T.copy(acc, B)

    return main


@tilelang.jit
def counts(N=160, dtype="int32"):
    """Shifts by 0, by all but one bit and by every bit, where the count is known to be no more."""
    wide = 64 if dtype == "int64" else 32
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), O: T.Tensor((5, N), dtype)):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                most = T.cast(i % wide, dtype)
                all_ = T.cast(i % (wide + 1), dtype)
                O[0, i] = A[i] >> most
                O[1, i] = A[i] >> all_
                O[2, i] = A[i] << most
                O[3, i] = A[i] << all_
                O[4, i] = T.cast(1, dtype) << most

    return main
