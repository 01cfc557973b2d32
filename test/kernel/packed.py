# Vectors of two lanes, dp4a, packed nibbles by hand.
# verify: :lanes N=64
# verify: :dot N=64
# verify: :nibbles N=64
import tilelang
import tilelang.language as T


@tilelang.jit
def lanes(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32"), Z: T.Tensor((4, N), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.serial(N // 2):
                a = T.float32x2(X[i * 2], X[i * 2 + 1])
                b = T.float32x2(Y[i * 2], Y[i * 2 + 1])
                Z[0, i * 2] = T.extract_lane(T.add2(a, b), 0)
                Z[0, i * 2 + 1] = T.extract_lane(T.mul2(a, b), 1)
                Z[1, i * 2] = T.extract_lane(T.fma2(a, b, a), 1)
                Z[1, i * 2 + 1] = T.extract_lane(T.sub2(a, b), 0)
                Z[2, i * 2] = T.extract_lane(T.max2(a, b), 0)
                Z[2, i * 2 + 1] = T.extract_lane(T.min2(a, b), 1)
                Z[3, i * 2] = T.extract_lane(T.abs2(a), 0)

    return main


@tilelang.jit
def dot(N=64):
    @T.prim_func
    def main(A: T.Tensor((N, 4), "int8"), B: T.Tensor((N, 4), "int8"), C: T.Tensor((N,), "int32")):
        with T.Kernel(N, threads=1) as bx:
            a = T.alloc_local((4,), "int8")
            b = T.alloc_local((4,), "int8")
            c = T.alloc_local((1,), "int32")
            c[0] = bx
            for i in T.serial(4):
                a[i] = A[bx, i]
                b[i] = B[bx, i]
            T.dp4a(a, b, c)
            C[bx] = c[0]

    return main


@tilelang.jit
def nibbles(N=64):
    @T.prim_func
    def main(W: T.Tensor((N,), "uint8"), Y: T.Tensor((N, 2), "float16")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                Y[i, 0] = T.cast(T.cast(W[i] & 15, "int8") - 8, "float16")
                Y[i, 1] = T.cast(T.cast(W[i] >> 4, "int8") - 8, "float16")

    return main
