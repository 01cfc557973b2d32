# Narrow numbers as their bits: moved, chosen, named, put together from integers; and choices by lanes in loops of wide accesses.
# verify: :chosen
# verify: :chosen dtype=bfloat16
# verify: :chosen N=1000
# verify: :chosen dtype=float8_e4m3fn bits=uint8
# verify: :chosen dtype=float8_e5m2 bits=uint8 N=777
# verify: :leaky
# verify: :leaky dtype=bfloat16 N=100
# verify: :leaky dtype=float32 N=130
# verify: :nested
# verify: :nested N=999
# verify: :nibbles
# verify: :nibbles N=100
import tilelang
import tilelang.language as T


@tilelang.jit
def chosen(N=2048, dtype="float16", bits="uint16"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), bits), C: T.Tensor((N,), dtype), D: T.Tensor((N,), dtype),
             E: T.Tensor((N,), bits)):
        with T.Kernel(T.ceildiv(N, 1024), threads=128) as bx:
            for i in T.Parallel(1024):
                C[bx * 1024 + i] = T.reinterpret(B[bx * 1024 + i], dtype)
            for i in T.Parallel(1024):
                x = A[bx * 1024 + i]
                y = T.if_then_else(i % 2 == 0, x, T.cast(0, dtype))
                D[bx * 1024 + i] = T.if_then_else(B[bx * 1024 + i] > 100, y, T.reinterpret(B[bx * 1024 + i], dtype))
            for i in T.Parallel(1024):
                z = A[bx * 1024 + i]
                E[bx * 1024 + i] = T.reinterpret(z, bits)

    return main


@tilelang.jit
def leaky(M=33, N=256, dtype="float16", slope=0.25):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), C: T.Tensor((M, N), dtype), D: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, 128), T.ceildiv(M, 32), threads=128) as (bx, by):
            for i, j in T.Parallel(32, 128):
                C[by * 32 + i, bx * 128 + j] = T.if_then_else(
                    A[by * 32 + i, bx * 128 + j] > 0, A[by * 32 + i, bx * 128 + j], A[by * 32 + i, bx * 128 + j] * slope)
            for i, j in T.Parallel(32, 128):
                half = A[by * 32 + i, bx * 128 + j] * T.cast(0.5, dtype)
                D[by * 32 + i, bx * 128 + j] = T.if_then_else((i + j) % 3 == 0, half + half, half * half - half)

    return main


@tilelang.jit
def nested(N=1024):
    """What only one side of a choice may read stays behind it: places that are negative or past the end otherwise."""

    @T.prim_func
    def main(A: T.Tensor((N,), "float16"), S: T.Tensor((N,), "int32"), C: T.Tensor((N,), "float16")):
        with T.Kernel(T.ceildiv(N, 512), threads=64) as bx:
            for i in T.Parallel(512):
                at = bx * 512 + i
                if at < N:
                    C[at] = T.if_then_else(
                        at >= 8,
                        T.if_then_else(A[at] > T.float16(0), A[at - 8], A[at]),
                        T.if_then_else(S[at] > 0, A[at + 8], T.float16(2)))

    return main


@tilelang.jit
def nibbles(N=1024):
    """Small signed numbers out of unsigned bits."""

    @T.prim_func
    def main(A: T.Tensor((N,), "uint8"), W: T.Tensor((N,), "uint16"), C: T.Tensor((N * 2,), "int8"), D: T.Tensor((N,), "int16"),
             E: T.Tensor((N,), "int32")):
        with T.Kernel(T.ceildiv(N, 256), threads=128) as bx:
            for i in T.Parallel(512):
                u4 = (A[bx * 256 + i // 2] >> T.cast(i % 2 * 4, "uint8")) & T.cast(15, "uint8")
                C[bx * 512 + i] = T.reinterpret(u4 << T.cast(4, "uint8"), "int8") >> T.cast(4, "int8")
            for i in T.Parallel(256):
                D[bx * 256 + i] = T.reinterpret(W[bx * 256 + i] << T.cast(3, "uint16"), "int16") >> T.cast(5, "int16")
            for i in T.Parallel(256):
                low = T.reinterpret(A[bx * 256 + i], "int8") >> T.cast(1, "int8")
                E[bx * 256 + i] = low * 3 - (T.reinterpret(W[bx * 256 + i], "int16") >> T.cast(15, "int16"))

    return main
