# Tensors, tiles and arithmetic of every dtype, and the names they go by.
# verify: :infinities
# verify: :infinities dtype=float16
# verify: :arithmetic dtype=bool
# verify: :arithmetic dtype=int4
# verify: :arithmetic dtype=int8
# verify: :arithmetic dtype=int16
# verify: :arithmetic dtype=int32
# verify: :arithmetic dtype=int64
# verify: :arithmetic dtype=uint4
# verify: :arithmetic dtype=uint8
# verify: :arithmetic dtype=uint16
# verify: :arithmetic dtype=uint32
# verify: :arithmetic dtype=uint64
# verify: :arithmetic dtype=float16
# verify: :arithmetic dtype=bfloat16
# verify: :arithmetic dtype=tfloat32
# verify: :arithmetic dtype=float32
# verify: :arithmetic dtype=float64
# verify: :arithmetic dtype=float8_e3m4
# verify: :arithmetic dtype=float8_e4m3
# verify: :arithmetic dtype=float8_e4m3fn
# verify: :arithmetic dtype=float8_e4m3b11fnuz
# verify: :arithmetic dtype=float8_e4m3fnuz
# verify: :arithmetic dtype=float8_e5m2
# verify: :arithmetic dtype=float8_e5m2fnuz
# verify: :arithmetic dtype=float8_e8m0fnu
# verify: :arithmetic dtype=float6_e2m3fn
# verify: :arithmetic dtype=float6_e3m2fn
# verify: :arithmetic dtype=float4_e2m1fn
# verify: :arithmetic dtype=half
# verify: :arithmetic dtype=float
# verify: :arithmetic dtype=double
# verify: :arithmetic dtype=short
# verify: :arithmetic dtype=int
# verify: :arithmetic dtype=long
# verify: :arithmetic dtype=uint
# verify: :casts
# verify: :bits
# verify: :constructors
import tilelang
import tilelang.language as T


@tilelang.jit
def arithmetic(N=38, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((N,), dtype), Z: T.Tensor((N,), dtype), W: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, 16), threads=16) as bx:
            x = T.alloc_fragment((16,), dtype)
            y = T.alloc_shared((16,), dtype)
            z = T.alloc_fragment((16,), dtype)
            v = T.alloc_var(dtype)
            T.copy(X[bx * 16], x)
            T.copy(Y[bx * 16], y)
            for i in T.Parallel(16):
                if dtype == "bool":
                    z[i] = x[i] and not y[i]
                else:
                    z[i] = x[i] * y[i] + x[i]
            T.copy(z, Z[bx * 16])
            v = X[bx * 16]
            W[bx * 16] = v

    return main


@tilelang.jit
def casts(N=40):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((8, N), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                x = X[i] * 100
                Y[0, i] = T.cast(T.cast(x, "float8_e4m3fn"), "float32")
                Y[1, i] = T.float32(T.float16(x))
                Y[2, i] = T.Cast("float32", T.Cast("bfloat16", x))
                Y[3, i] = T.cast(T.cast(x * 1e6, "float16"), "float32")
                Y[4, i] = T.cast(T.cast(x * 1e30, "int32"), "float32")
                Y[5, i] = T.cast(T.cast(T.cast(x, "int32"), "int8"), "float32")
                Y[6, i] = x.astype("int16").astype("float32")
                Y[7, i] = T.cast(T.cast(x * 1e6, "float8_e5m2"), "float32")

    return main


@tilelang.jit
def bits(N=40):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), H: T.Tensor((N,), "float16"), Y: T.Tensor((4, N), "int32"), Z: T.Tensor((2, N), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                Y[0, i] = T.reinterpret(X[i], "int32")
                Y[1, i] = T.cast(T.reinterpret(H[i], "uint16"), "int32")
                Y[2, i] = T.cast(T.reinterpret(X[i], "uint32") >> 23, "int32")
                Y[3, i] = T.cast(T.reinterpret(T.cast(X[i], "float8_e4m3fn"), "uint8"), "int32")
                Z[0, i] = T.reinterpret(T.reinterpret(X[i], "int32") & -65536, "float32")
                Z[1, i] = T.cast(T.reinterpret(T.cast(i * 3, "uint8"), "float8_e5m2"), "float32")

    return main


@tilelang.jit
def constructors(N=10):
    half = T.float16
    names = [T.dtype("int8"), T.dtype(float), T.dtype(int)]

    @T.prim_func
    def main(X: T.Tensor((N,), half), Y: T.Tensor((N,), names[1]), Z: T.Tensor((N,), names[0])):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                Y[i] = T.float32(1.5) + T.float32(X[i]) + half.bits + T.int8(3)
                Z[i] = names[2](5) + T.uint8(250)

    return main


# An infinity is stored as one, also where conversions saturate.
@tilelang.jit
def infinities(N=256, dtype="float8_e5m2"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype)):
        with T.Kernel(1, threads=32) as bx:
            T.fill(A, T.infinity(dtype))
            for i in T.Parallel(N):
                B[i] = -T.infinity(dtype)

    return main
