# Integers: floor and truncated division, shifts, bits, wrapping, mixed widths.
# verify: :signed dtype=int32
# verify: :signed dtype=int64
# verify: :signed dtype=int16
# verify: :signed dtype=int8
# verify: :unsigned dtype=uint32
# verify: :unsigned dtype=uint8
# verify: :unsigned dtype=uint64
# verify: :unsigned dtype=uint16
# verify: :widths
# verify: :wraps
# verify: :literals
# verify: :powers dtype=int32
# verify: :powers dtype=uint16
# verify: :powers dtype=int64
import tilelang
import tilelang.language as T


@tilelang.jit
def signed(N=200, dtype="int32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((N,), dtype), Z: T.Tensor((20, N), dtype)):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                a = X[i] * 7 + 3
                b = T.if_then_else(Y[i] == 0, T.cast(5, dtype), Y[i])
                Z[0, i] = a // b
                Z[1, i] = a % b
                Z[2, i] = T.truncdiv(a, b)
                Z[3, i] = T.truncmod(a, b)
                Z[4, i] = T.floordiv(a, 4)
                Z[5, i] = T.floormod(a, 4)
                Z[6, i] = T.ceildiv(a, 3)
                Z[7, i] = a << 2
                Z[8, i] = a >> 1
                Z[9, i] = a & b
                Z[10, i] = a | b
                Z[11, i] = a ^ b
                Z[12, i] = ~a
                Z[13, i] = -a
                Z[14, i] = T.abs(a)
                Z[15, i] = T.max(a, b) - T.min(a, b)
                Z[16, i] = T.popcount(a)
                Z[17, i] = T.clz(T.abs(b))
                Z[18, i] = a // -3
                Z[19, i] = a % -3

    return main


@tilelang.jit
def unsigned(N=200, dtype="uint32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((N,), dtype), Z: T.Tensor((10, N), dtype)):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                a = X[i] * 31 + 1
                b = Y[i] + 1
                Z[0, i] = a // b
                Z[1, i] = a % b
                Z[2, i] = X[i] - Y[i]
                Z[3, i] = a >> 2
                Z[4, i] = a << 3
                Z[5, i] = ~a
                Z[6, i] = T.popcount(a)
                Z[7, i] = T.max(X[i] - Y[i], b)
                Z[8, i] = T.bitwise_xor(a, b)
                Z[9, i] = T.if_then_else(X[i] - Y[i] > b, T.cast(1, dtype), T.cast(0, dtype))

    return main


@tilelang.jit
def widths(N=100):
    @T.prim_func
    def main(
        A: T.Tensor((N,), "int8"),
        B: T.Tensor((N,), "int16"),
        C: T.Tensor((N,), "int32"),
        D: T.Tensor((N,), "int64"),
        E: T.Tensor((N,), "float16"),
        F: T.Tensor((N,), "float32"),
        Y: T.Tensor((6, N), "float32"),
        Z: T.Tensor((4, N), "int64"),
    ):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                Y[0, i] = A[i] * F[i]
                Y[1, i] = E[i] + F[i]
                Y[2, i] = C[i] * E[i]
                Y[3, i] = B[i] + F[i] * D[i]
                Y[4, i] = T.if_then_else(A[i] > 0, F[i], E[i])
                Y[5, i] = A[i] * 2.5 + 1
                Z[0, i] = A[i] * B[i]
                Z[1, i] = C[i] + D[i]
                Z[2, i] = T.cast(C[i], "int64") * 3000000000
                Z[3, i] = (C[i] < B[i]) + (A[i] == D[i])

    return main


@tilelang.jit
def wraps(N=100):
    @T.prim_func
    def main(A: T.Tensor((N,), "int8"), B: T.Tensor((N,), "int32"), Y: T.Tensor((N,), "int8"), Z: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                Y[i] = A[i] * T.int8(100)
                Z[i] = B[i] * 1000000007 + 2147483647

    return main


@tilelang.jit
def literals(N=10):
    @T.prim_func
    def main(Y: T.Tensor((8, N), "int32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                Y[0, i] = 0x10 + 0b11 + 0o7
                Y[1, i] = -7 // 2
                Y[2, i] = -7 % 3
                Y[3, i] = 1_000
                Y[4, i] = int(3.7) + round(2.5) + abs(-4)
                Y[5, i] = 2**5 + i
                Y[6, i] = True + i
                Y[7, i] = min(3, 4) + max(5, 6) + sum([1, 2, 3])

    return main


@tilelang.jit
def powers(N=200, dtype="int32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), E: T.Tensor((N,), dtype), Z: T.Tensor((3, N), dtype)):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                Z[0, i] = T.pow(X[i], E[i])
                Z[1, i] = T.pow(X[i], 5)
                Z[2, i] = T.pow(3, E[i])

    return main
