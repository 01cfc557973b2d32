# float16 and bfloat16 are computed operation by operation: each result is a number of the type, and
# so a comparison, a condition and a cast see the rounded one.
# verify: :product
# verify: :product dtype=bfloat16
# verify: :pairs
# verify: :pairs dtype=bfloat16
# verify: :conditions
# verify: :conditions dtype=bfloat16
# verify: :conditions dtype=float8_e4m3fn
# verify: :middle
# verify: :middle dtype=bfloat16
# verify: :casts
# verify: :casts dtype=bfloat16
# verify: :casts dtype=tfloat32
# verify: :casts dtype=float8_e4m3fn
# verify: :casts dtype=float8_e8m0fnu
# verify: :casts dtype=float8_e5m2fnuz
# verify: :fused
# verify: :fused dtype=bfloat16
# verify: :fused dtype=float32
# verify: :nans
# verify: :nans dtype=bfloat16
# verify: :nans dtype=float32
# verify: :adds
# verify: :adds dtype=bfloat16
import tilelang
import tilelang.language as T


@tilelang.jit
def product(N=128, dtype="float16", least=0.0001):
    """1e-4 * 1e-4 is 0 in float16."""
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype)):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((N,), dtype)
            c = T.alloc_fragment((N,), dtype)
            T.copy(A, a)
            for i in T.Parallel(N):
                a[i] = T.cast(T.cast(a[i], "float32") * T.float32(least), dtype)
            for i in T.Parallel(N):
                c[i] = T.if_then_else(a[i] * a[i] > 0, 1, 0) * T.cast(3, dtype)
            T.copy(c, C)

    return main


@T.macro
def bits_of(x, out, i, j, dtype):
    """NaNs are one: their bits are not."""
    out[i, j] = T.if_then_else(T.isnan(x), T.cast(-1, "int32"), T.cast(T.reinterpret(x, "uint16"), "int32"))


@tilelang.jit
def pairs(N=64, dtype="float16"):
    """Numbers around powers of two, small ones, infinities and NaN, all with all."""
    @T.prim_func
    def main(O: T.Tensor((8, N * N), "int32")):
        with T.Kernel(1, threads=128) as bx:
            for n in T.serial(N * N):
                i = n // N
                j = n % N
                a = T.reinterpret(T.cast(i * 1024 + (i % 3 - 1) * (i // 2), "uint16"), dtype)
                b = T.reinterpret(T.cast(j * 1024 + (j % 5 - 2) * j, "uint16"), dtype)
                bits_of(a + b, O, 0, n, dtype)
                bits_of(a - b, O, 1, n, dtype)
                bits_of(a * b, O, 2, n, dtype)
                bits_of(a / b, O, 3, n, dtype)
                bits_of(a * b + a, O, 4, n, dtype)
                bits_of((a - b) * (a + b), O, 5, n, dtype)
                bits_of(T.floordiv(a, b), O, 6, n, dtype)
                bits_of(T.sqrt(T.abs(a)) - b, O, 7, n, dtype)

    return main


@tilelang.jit
def conditions(N=256, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype), O: T.Tensor((8, N), "int32")):
        with T.Kernel(1, threads=64) as bx:
            count = T.alloc_local((1,), "int32")
            for i in T.Parallel(N):
                a = A[i]
                b = B[i]
                c = C[i]
                O[0, i] = T.if_then_else(a + b == a, 1, 0)
                O[1, i] = T.if_then_else(a * b == b * a + c - c, 1, 0)
                O[2, i] = T.if_then_else(T.max(a * b, c) >= a + c, 1, 0)
                O[3, i] = T.if_then_else((a + b) - b == a and (a * c) / c != a, 1, 0)
                O[4, i] = T.cast((a + b) - a == b, "int32")
                O[5, i] = T.cast(T.Select(a / b * b < a, a * b, a - b) > c, "int32")
                O[6, i] = T.cast(not (a - b * c > a - c * b + a * c), "int32")
            for i in T.serial(N):
                count[0] = 0
                if A[i] * B[i] - C[i] > B[i] * A[i]:
                    count[0] = 5
                while A[i] * T.cast(count[0], dtype) * T.cast(0.3, dtype) < B[i] and count[0] < 9:
                    count[0] = count[0] + 1
                O[7, i] = count[0]

    return main


@tilelang.jit
def middle(N=256, dtype="float16"):
    """A cast in the middle is a rounding; so is the sum that an integer is made of."""
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), "float32"), O: T.Tensor((4, N), "uint32"), I: T.Tensor((3, N), "int32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                O[0, i] = T.reinterpret(T.cast(T.cast(B[i], dtype), "float32") - B[i], "uint32")
                O[1, i] = T.reinterpret(T.cast(A[i] + T.cast(B[i], dtype), "float32") * T.float32(1024), "uint32")
                O[2, i] = T.reinterpret(B[i] - T.cast(T.cast(B[i] * B[i], dtype) * A[i], "float32"), "uint32")
                O[3, i] = T.reinterpret(T.cast(T.sqrt(T.abs(A[i])), "float32"), "uint32")
                I[0, i] = T.cast((A[i] + T.cast(1, dtype)) * T.cast(1000, dtype), "int32")
                I[1, i] = T.cast(A[i] * A[i] * T.cast(77, dtype), "int8")
                I[2, i] = T.cast(T.floor(A[i] * T.cast(31, dtype)), "int32")

    return main


@tilelang.jit
def casts(N=512, dtype="float16"):
    """From 64 bits and from wide integers, rounded once: halves, and a little more or less."""
    @T.prim_func
    def main(O: T.Tensor((6, N), "uint32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                half = T.cast(2 * i + 1, "int64") * 2097152
                tiny = T.cast(i % 3 - 1, "int64")
                O[0, i] = T.reinterpret(T.cast(T.cast(half + tiny, dtype), "float32"), "uint32")
                O[1, i] = T.reinterpret(T.cast(T.cast(T.cast((half + tiny) // 4096, "int32"), dtype), "float32"), "uint32")
                O[2, i] = T.reinterpret(T.cast(T.cast(T.cast(half * 1024, "float64") + T.cast(tiny, "float64") * T.float64(1e-4), dtype), "float32"), "uint32")
                O[3, i] = T.reinterpret(T.cast(T.cast(T.cast(2 * i + 1, "float64") * T.float64(2.0**-11) + T.cast(tiny, "float64") * T.float64(1e-12), dtype), "float32"), "uint32")
                O[4, i] = T.reinterpret(T.cast(T.cast(T.cast(half * 2048 + tiny, "uint64"), dtype), "float32"), "uint32")
                O[5, i] = T.reinterpret(T.cast(T.cast(T.cast(2 * i + 1, "float64") * T.float64(2.0**-35) + T.cast(tiny, "float64") * T.float64(1e-24), dtype), "float32"), "uint32")

    return main


@tilelang.jit
def fused(N=512, dtype="float16"):
    """T.fma rounds once: the product lies between two numbers, and the summand decides."""
    wide = "uint32" if dtype == "float32" else "uint16"

    @T.prim_func
    def main(A: T.Tensor((N,), dtype), O: T.Tensor((2, N), "uint32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                a = T.cast(2 * (i % 100) + 1, dtype)
                b = T.cast(2 * (i % 64) + 129, dtype)
                c = T.cast(i % 3 - 1, dtype) * T.cast(2.0**-20, dtype)
                O[0, i] = T.cast(T.reinterpret(T.fma(a, b, c * c * T.cast(i % 3 - 1, dtype)), wide), "uint32")
                O[1, i] = T.cast(T.reinterpret(T.fma(a, b, c), wide), "uint32")

    return main


@tilelang.jit
def nans(N=96, dtype="float16"):
    """T.max and T.min give the other operand; comparisons with NaN are false; as an integer it is 0."""
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), O: T.Tensor((4, N), dtype), I: T.Tensor((6, N), "int32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                a = A[i] + T.cast(0.5, dtype)
                nan = (a - a) / (a - a)
                b = T.if_then_else(i % 3 == 0, nan, a)
                O[0, i] = T.max(a, b)
                O[1, i] = T.min(b, a)
                O[2, i] = T.max(T.max(b, a * a), b)
                O[3, i] = T.min(nan, a)
                I[0, i] = T.cast(b < a, "int32") + 2 * T.cast(b >= a, "int32")
                I[1, i] = T.cast(b == b, "int32") + 2 * T.cast(b != b, "int32")
                I[2, i] = T.cast(nan, "int32")
                I[3, i] = T.cast(b, "int8")
                I[4, i] = T.cast(T.isnan(T.max(nan, b)), "int32")
                I[5, i] = T.cast(T.cast(nan, "bool"), "int32")

    return main


@tilelang.jit
def adds(N=64, dtype="float16"):
    """Every addition of an atomic rounds, whole numbers that fit are exact in any order."""
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), O: T.Tensor((4,), dtype)):
        with T.Kernel(1, threads=32) as bx:
            tile = T.alloc_fragment((N,), dtype)
            total = T.alloc_fragment((1,), dtype)
            if bx == 0:
                O[0] = 0
                O[1] = 1
                O[2] = 0
            for i in T.Parallel(N):
                tile[i] = T.cast(i % 5, dtype)
            T.reduce_sum(tile, total, dim=0)
            for i in T.Parallel(N):
                T.atomic_add(O[0], tile[i])
                T.atomic_add(O[1], tile[i] * T.cast(0.0000001, dtype))
                T.atomic_max(O[2], A[i] * A[i])
            O[3] = total[0]

    return main
