"""Elementwise functions, selection, casts, bits."""
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), N: T.Tensor((64,), "int32"), O: T.Tensor((16, 64), "float32"),
         I: T.Tensor((16, 64), "int32")):
    with T.Kernel(1, threads=64) as bx:
        for i in T.Parallel(64):
            O[0, i] = T.pow(A[i], 3)
            O[1, i] = T.clamp(A[i], -0.5, 0.5)
            O[2, i] = T.if_then_else(A[i] > 0, A[i], T.float32(0))
            O[3, i] = T.Select(N[i] % 2 == 0, A[i], 1)
            O[4, i] = T.fma(A[i], A[i], 1.0)
            O[5, i] = T.max(T.min(A[i], 1), -1)
            O[6, i] = T.cast(T.cast(A[i], "float16"), "float32")
            O[7, i] = T.ieee_add(A[i], 1)
            O[8, i] = T.reinterpret(T.reinterpret(A[i], "uint32"), "float32")
            O[9, i] = T.floor(A[i]) + T.ceil(A[i]) + T.trunc(A[i])
            O[10, i] = T.round(A[i] * 2, rounding_mode="ties-away-from-zero")
            O[11, i] = T.infinity("float32")
            O[12, i] = T.max_value("float16")
            O[13, i] = T.Cast("float32", N[i])
            O[14, i] = T.abs(A[i])
            O[15, i] = T.sqrt(T.abs(A[i])) * T.sqrt(T.abs(A[i]))
            I[0, i] = T.ceildiv(N[i], 7)
            I[1, i] = T.floordiv(N[i], 7)
            I[2, i] = T.floormod(N[i], 7)
            I[3, i] = T.truncdiv(N[i], 7)
            I[4, i] = T.truncmod(N[i], 7)
            I[5, i] = T.align_up(N[i], 8)
            I[6, i] = T.shift_left(N[i], 3)
            I[7, i] = T.bitwise_xor(N[i], 85)
            I[8, i] = T.popcount(N[i])
            I[9, i] = T.clz(T.bitwise_or(N[i], 1))
            I[10, i] = T.bitwise_not(N[i])
            I[11, i] = T.q_multiply_shift(N[i], 1 << 20, 21, 0)
            I[12, i] = T.extract_lane(T.Ramp(N[i], 3, 4), 2)
            I[13, i] = T.Shuffle([T.int32x2(N[i], i), T.Broadcast(5, 2)], [1])
            I[14, i] = T.index_to_coordinates(i, [4, 4, 4])[1]
            I[15, i] = tilelang.next_power_of_2(33)


@T.prim_func
def reference(A: T.Tensor((64,), "float32"), N: T.Tensor((64,), "int32"),
              O: T.Tensor((16, 64), "float32"), I: T.Tensor((16, 64), "int32")):
    with T.Kernel(1, threads=64) as bx:
        for i in T.serial(64):
            O[0, i] = A[i] * A[i] * A[i]
            O[1, i] = -0.5 if A[i] < -0.5 else (0.5 if A[i] > 0.5 else A[i])
            O[2, i] = A[i] if A[i] > 0 else T.float32(0)
            O[3, i] = A[i] if N[i] % 2 == 0 else T.float32(1)
            O[4, i] = A[i] * A[i] + 1
            O[5, i] = T.float32(-1) if A[i] < -1 else (T.float32(1) if A[i] > 1 else A[i])
            O[6, i] = T.float32(T.float16(A[i]))
            O[7, i] = A[i] + 1
            O[8, i] = A[i]
            whole = T.cast(T.cast(A[i], "int32"), "float32")
            O[9, i] = whole * 3 + (0.0 if whole == A[i] else (1.0 if A[i] > 0 else -1.0))
            twice = A[i] * 2
            O[10, i] = T.cast(T.cast(twice + (0.5 if twice > 0 else -0.5), "int32"), "float32")
            O[11, i] = T.float32("inf")
            O[12, i] = 65504.0
            O[13, i] = T.float32(N[i])
            O[14, i] = A[i] if A[i] > 0 else -A[i]
            O[15, i] = A[i] if A[i] > 0 else -A[i]
            I[0, i] = (N[i] + 6) // 7
            I[1, i] = N[i] // 7
            I[2, i] = N[i] % 7
            I[3, i] = N[i] // 7 if N[i] >= 0 else -((-N[i]) // 7)
            I[4, i] = N[i] % 7 if N[i] >= 0 else -((-N[i]) % 7)
            I[5, i] = (N[i] + 7) // 8 * 8
            I[6, i] = N[i] * 8
            I[7, i] = (N[i] | 85) - (N[i] & 85)
            I[8, i] = 0
            for b in T.serial(32):
                I[8, i] += (N[i] >> b) & 1
            I[9, i] = 0
            for b in T.serial(31):
                I[9, i] = I[9, i] + 1 if (N[i] | 1) >> (31 - I[9, i]) == 0 else I[9, i]
            I[10, i] = -N[i] - 1
            I[11, i] = (N[i] + 1) >> 1
            I[12, i] = N[i] + 6
            I[13, i] = i
            I[14, i] = i // 4 % 4
            I[15, i] = 64
