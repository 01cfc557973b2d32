# Infinities and NaNs where a compiler that takes numbers to be finite would know the result: x * 0, x - x, a sum that begins as 0.
# verify: :arithmetic
# verify: :sums
# verify: :bits dtype=uint32
# verify: :bits dtype=int32
import tilelang
import tilelang.language as T


# infinite, NaN and finite in turn
@T.macro
def special(X, i, v):
    v[0] = T.if_then_else(i % 3 == 0, (T.abs(X[i]) + 1) / 0.0, T.if_then_else(i % 3 == 1, T.sqrt(-T.abs(X[i]) - 1), X[i]))


@tilelang.jit
def arithmetic(N=200):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((8, N), "float32"), Z: T.Tensor((6, N), "int32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                v = T.alloc_local((1,), "float32")
                special(X, i, v)
                Y[0, i] = v[0] * 0
                Y[1, i] = v[0] - v[0]
                Y[2, i] = v[0] / v[0]
                Y[3, i] = v[0] * T.cast(i % 2 == 0, "float32")
                Y[4, i] = v[0] + T.infinity("float32")
                Y[5, i] = 0 / v[0]
                Y[6, i] = v[0] * T.infinity("float32") * 0
                Y[7, i] = T.clamp(v[0], -1, 1)
                Z[0, i] = T.if_then_else(v[0] == v[0], 1, 0)
                Z[1, i] = T.if_then_else(v[0] != v[0], 1, 0)
                Z[2, i] = T.if_then_else(v[0] * v[0] >= 0, 1, 0)
                Z[3, i] = T.if_then_else(not (v[0] * v[0] >= 0), 1, 0)
                Z[4, i] = T.if_then_else(v[0] * 0 == 0, 1, 0)
                Z[5, i] = T.if_then_else(v[0] - v[0] == 0, 1, 0)

    return main


@tilelang.jit
def sums(N=96):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((2, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            acc = T.alloc_fragment((N,), "float32")
            row = T.alloc_fragment((N,), "float32")
            T.clear(acc)
            T.clear(row)
            for k in T.serial(1):
                for i in T.Parallel(N):
                    v = T.alloc_local((1,), "float32")
                    special(X, i, v)
                    acc[i] = acc[i] * v[0] + 1
                    row[i] += v[0] * (k * 1.0)
            T.copy(acc, Y[0, 0])
            T.copy(row, Y[1, 0])

    return main


@tilelang.jit
def bits(N=200, dtype="uint32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Z: T.Tensor((5, N), dtype)):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                a = X[i] * 77773 + 5
                Z[0, i] = T.popcount(a)
                Z[1, i] = T.clz(a)
                Z[2, i] = T.popcount(a) + T.cast(3, dtype)
                Z[3, i] = T.abs(a) + T.max(a, X[i])
                Z[4, i] = a ^ T.clz(X[i])

    return main
