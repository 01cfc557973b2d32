# Integers at the ends of their range: sums, products, negation and absolute value wrap, also where
# C would compute them in int; division, remainder and shift by anything have one result.
# verify: :pairs dtype=int8
# verify: :pairs dtype=uint8
# verify: :pairs dtype=int16
# verify: :pairs dtype=uint16
# verify: :pairs dtype=int32
# verify: :pairs dtype=uint32
# verify: :pairs dtype=int64
# verify: :pairs dtype=uint64
# verify: :nibbles dtype=int4
# verify: :nibbles dtype=uint4
# verify: :conditions dtype=int8
# verify: :conditions dtype=uint16
# verify: :conditions dtype=int32
# verify: :constants dtype=int8
# verify: :constants dtype=uint16
# verify: :constants dtype=int64
import tilelang
import tilelang.language as T

BITS = {"int4": 4, "uint4": 4, "int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32,
        "int64": 64, "uint64": 64}
OPS = 22


@T.macro
def edge(j, v, wide):
    """Powers of two, one less, one more, and their opposites: j from 0 to 6 * bits."""
    v[0] = (T.cast(1, wide) << T.cast(j // 6, wide)) + T.cast(j // 2 % 3 - 1, wide)
    if j % 2 == 1:
        v[0] = -v[0]


@tilelang.jit
def pairs(dtype="int8", M=5):
    n = 6 * BITS[dtype]
    wide = "uint64" if dtype == "uint64" else "int64"

    @T.prim_func
    def main(O: T.Tensor((OPS, M, n), dtype), W: T.Tensor((4, M, n), "int64")):
        with T.Kernel(1, threads=32):
            u = T.alloc_local((1,), wide)
            v = T.alloc_local((1,), wide)
            for j in T.serial(M):
                for i in T.serial(n):
                    edge(i, u, wide)
                    edge((i * 7 + j * 13) % n, v, wide)
                    a = T.cast(u[0], dtype)
                    b = T.cast(v[0], dtype)
                    O[0, j, i] = a + b
                    O[1, j, i] = a - b
                    O[2, j, i] = a * b
                    O[3, j, i] = -a
                    O[4, j, i] = T.abs(a)
                    O[5, j, i] = a // b
                    O[6, j, i] = a % b
                    O[7, j, i] = T.truncdiv(a, b)
                    O[8, j, i] = T.truncmod(a, b)
                    O[9, j, i] = a << b
                    O[10, j, i] = a >> b
                    O[11, j, i] = ~a
                    O[12, j, i] = T.max(a, b)
                    O[13, j, i] = T.min(a, b)
                    O[14, j, i] = a & b
                    O[15, j, i] = a | b
                    O[16, j, i] = a ^ b
                    O[17, j, i] = T.pow(a, b & T.cast(7, dtype))
                    O[18, j, i] = (a + b) // (a - b)
                    O[19, j, i] = T.abs(a - b) % T.abs(b)
                    O[20, j, i] = (a * b) >> (b & T.cast(31, dtype))
                    O[21, j, i] = T.pow(a, b)
                    W[0, j, i] = T.cast(T.abs(a), "int64")
                    W[1, j, i] = T.cast(a // b, "int64")
                    W[2, j, i] = T.cast(-a, "int64") + T.cast(a + b, "int64")
                    W[3, j, i] = T.cast(a << b, "int64") - T.cast(T.truncdiv(a, b), "int64")

    return main


@tilelang.jit
def nibbles(dtype="int4"):
    @T.prim_func
    def main(O: T.Tensor((12, 16, 16), "int32")):
        with T.Kernel(1, threads=32):
            for i, j in T.Parallel(16, 16):
                a = T.cast(i, dtype)
                b = T.cast(j, dtype)
                O[0, i, j] = T.cast(a + b, "int32")
                O[1, i, j] = T.cast(a - b, "int32")
                O[2, i, j] = T.cast(a * b, "int32")
                O[3, i, j] = T.cast(-a, "int32")
                O[4, i, j] = T.cast(T.abs(a), "int32")
                O[5, i, j] = T.cast(a // b, "int32")
                O[6, i, j] = T.cast(a % b, "int32")
                O[7, i, j] = T.cast(T.truncdiv(a, b), "int32")
                O[8, i, j] = T.cast(a << b, "int32")
                O[9, i, j] = T.cast(a >> b, "int32")
                O[10, i, j] = T.cast(~a, "int32")
                O[11, i, j] = T.if_then_else(a - b > T.cast(3, dtype), 1, 0)

    return main


@tilelang.jit
def conditions(dtype="int8", N=300):
    """Narrow arithmetic wraps in conditions and indices as well."""
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), O: T.Tensor((6, N), "int32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(N):
                a = A[i] * T.cast(37, dtype)
                b = B[i] * T.cast(53, dtype)
                O[0, i] = T.if_then_else(a + b > a, 1, 0)
                O[1, i] = T.if_then_else(T.abs(a) >= T.cast(0, dtype), 1, 0)
                O[2, i] = T.if_then_else(a // b == a, 1, 0)
                O[3, i] = T.if_then_else((a << b) < a, 1, 0)
                O[4, i] = T.if_then_else(-a == a, 1, 0)
                O[5, i] = T.if_then_else(a % b == 0, 1, 0)

    return main


@tilelang.jit
def constants(dtype="int8"):
    """What the compiler computes and what the kernel computes: the same."""
    low = {"int8": -128, "uint16": 0, "int64": -(2**62) * 2}[dtype]

    @T.prim_func
    def main(Z: T.Tensor((1,), dtype), O: T.Tensor((2, 6), dtype)):
        with T.Kernel(1, threads=32):
            z = Z[0] & T.cast(0, dtype)
            c = T.cast(low, dtype)
            one = T.cast(1, dtype)
            O[0, 0] = T.abs(c)
            O[1, 0] = T.abs(c + z)
            O[0, 1] = c // (one - T.cast(2, dtype))
            O[1, 1] = (c + z) // (one - T.cast(2, dtype) + z)
            O[0, 2] = c - one
            O[1, 2] = c + z - one
            O[0, 5] = -c
            O[1, 5] = -(c + z)
            O[0, 4] = T.truncdiv(c, T.cast(0, dtype) - one)
            O[1, 4] = T.truncdiv(c + z, z - one)
            O[0, 3] = T.pow(T.cast(3, dtype), T.cast(5, dtype))
            O[1, 3] = T.pow(T.cast(3, dtype) + z, T.cast(5, dtype))

    return main
