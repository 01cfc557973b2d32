# Every elementwise function.
# verify: :unary N=100
# verify: :unary N=1
# verify: :unary N=1031
# verify: :unary N=100 dtype=float64
# verify: :unary N=100 dtype=float16
# verify: :unary N=100 dtype=bfloat16
# verify: :two N=100
# verify: :two N=100 dtype=float64
# verify: :two N=100 dtype=float16
# verify: :checks N=200
# verify: :fast N=100
# verify: :ieee N=100
# verify: :extremes
# verify: :of_one
# verify: :neighbours
# verify: :neighbours dtype=bfloat16
# verify: :neighbours dtype=float8_e5m2 bits=uint8
import tilelang
import tilelang.language as T


@tilelang.jit
def unary(N=100, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((30, N), dtype)):
        with T.Kernel(T.ceildiv(N, 128), threads=64) as bx:
            x = T.alloc_fragment((128,), dtype)
            T.copy(X[bx * 128], x)
            for i in T.Parallel(128):
                n = bx * 128 + i
                p = T.abs(x[i]) + T.cast(0.25, dtype)
                u = T.sin(x[i])
                if n < N:
                    Y[0, n] = T.abs(x[i])
                    Y[1, n] = T.atan(x[i])
                    Y[2, n] = T.asinh(x[i])
                    Y[3, n] = T.ceil(x[i])
                    Y[4, n] = T.cos(x[i])
                    Y[5, n] = T.cosh(x[i])
                    Y[6, n] = T.erf(x[i])
                    Y[7, n] = T.exp(x[i])
                    Y[8, n] = T.exp2(x[i])
                    Y[9, n] = T.exp10(x[i])
                    Y[10, n] = T.floor(x[i])
                    Y[11, n] = T.nearbyint(x[i])
                    Y[12, n] = T.round(x[i])
                    Y[13, n] = T.sigmoid(x[i])
                    Y[14, n] = T.sin(x[i])
                    Y[15, n] = T.sinh(x[i])
                    Y[16, n] = T.tan(x[i])
                    Y[17, n] = T.tanh(x[i])
                    Y[18, n] = T.trunc(x[i])
                    Y[19, n] = T.log(p)
                    Y[20, n] = T.log2(p)
                    Y[21, n] = T.log10(p)
                    Y[22, n] = T.log1p(p)
                    Y[23, n] = T.sqrt(p)
                    Y[24, n] = T.rsqrt(p)
                    Y[25, n] = T.acos(u)
                    Y[26, n] = T.asin(u)
                    Y[27, n] = T.atanh(u)
                    Y[28, n] = T.acosh(p + 1)
                    Y[29, n] = T.round(x[i] * 4, rounding_mode="ties-away-from-zero")

    return main


@tilelang.jit
def two(N=100, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((N,), dtype), Z: T.Tensor((12, N), dtype)):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                Z[0, i] = T.atan2(X[i], Y[i])
                Z[1, i] = T.copysign(X[i], Y[i])
                Z[2, i] = T.fmod(X[i] * 10, Y[i])
                Z[3, i] = T.hypot(X[i], Y[i])
                Z[4, i] = T.pow(T.abs(X[i]), Y[i])
                Z[5, i] = X[i] ** 3
                Z[6, i] = T.abs(X[i]) ** 0.5
                Z[7, i] = T.max(X[i], Y[i])
                Z[8, i] = T.min(X[i], Y[i])
                Z[9, i] = T.fma(X[i], Y[i], X[i])
                Z[10, i] = T.clamp(X[i], -0.5, 0.75)
                Z[11, i] = T.nextafter(X[i], Y[i])

    return main


@tilelang.jit
def checks(N=200):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((5, N), "int32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                v = T.if_then_else(i % 3 == 0, X[i] / 0.0, T.if_then_else(i % 3 == 1, T.sqrt(X[i]), X[i]))
                Y[0, i] = T.if_then_else(T.isnan(v), 1, 0)
                Y[1, i] = T.if_then_else(T.isinf(v), 1, 0)
                Y[2, i] = T.if_then_else(T.isfinite(v), 1, 0)
                Y[3, i] = T.if_then_else(v == v, 1, 0)
                Y[4, i] = T.if_then_else(v < 0, 1, 0) + T.if_then_else(v >= 0, 2, 0) + T.if_then_else(not (v != 1), 4, 0)

    return main


@tilelang.jit
def fast(N=100):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((9, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                p = T.abs(X[i]) + 0.5
                Y[0, i] = T.__exp(X[i])
                Y[1, i] = T.__exp10(X[i])
                Y[2, i] = T.__log(p)
                Y[3, i] = T.__log2(p)
                Y[4, i] = T.__log10(p)
                Y[5, i] = T.__sin(X[i])
                Y[6, i] = T.__cos(X[i])
                Y[7, i] = T.__tan(X[i])
                Y[8, i] = T.fast_rcp(p)

    return main


@tilelang.jit
def ieee(N=100):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32"), Z: T.Tensor((8, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                Z[0, i] = T.ieee_add(X[i], Y[i])
                Z[1, i] = T.ieee_sub(X[i], Y[i])
                Z[2, i] = T.ieee_mul(X[i], Y[i])
                Z[3, i] = T.ieee_fdiv(X[i], Y[i])
                Z[4, i] = T.ieee_fmaf(X[i], Y[i], X[i])
                Z[5, i] = T.ieee_frcp(X[i])
                Z[6, i] = T.ieee_fsqrt(T.abs(X[i]))
                Z[7, i] = T.ieee_frsqrt(T.abs(X[i]))

    return main


@tilelang.jit
def extremes(N=8):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((10, N), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                Y[0, i] = T.infinity("float32")
                Y[1, i] = -T.infinity("float32")
                Y[2, i] = T.max_value("float32")
                Y[3, i] = T.min_value("float32")
                Y[4, i] = T.exp(X[i] * 1000)
                Y[5, i] = T.exp2(-X[i] * 1000)
                Y[6, i] = T.log(X[i] * 0)
                Y[7, i] = T.max_value("int32") + i * 0
                Y[8, i] = T.tanh(X[i] * 100)
                Y[9, i] = T.sin(X[i] * 100000)

    return main


@tilelang.jit
def neighbours(N=512, dtype="float16", bits="uint16"):
    """The number after x on the way to y, by its code; 0 where there is none."""
    @T.prim_func
    def main(X: T.Tensor((N,), bits), Y: T.Tensor((N,), bits), Z: T.Tensor((N,), bits)):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                v = T.nextafter(T.reinterpret(X[i], dtype), T.reinterpret(Y[i], dtype))
                Z[i] = T.if_then_else(T.isnan(v), T.cast(0, bits), T.reinterpret(v, bits))

    return main


# Of one number, not of a tile: functions that every target has.
@tilelang.jit
def of_one(N=40):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((8, N), "float32")):
        with T.Kernel(N, threads=32) as b:
            x = T.alloc_var("float32")
            x = X[b]
            Y[0, b] = T.sigmoid(x)
            Y[1, b] = T.fast_rcp(x)
            Y[2, b] = T.rsqrt(T.abs(x))
            Y[3, b] = T.tanh(x)
            Y[4, b] = T.exp10(x) + T.exp2(x)
            Y[5, b] = T.floor(x) + T.ceil(x) * 2 + T.trunc(x) * 4 + T.round(x) * 8 + T.nearbyint(x) * 16
            Y[6, b] = T.min(T.max(x, -1.0), 1.0)
            Y[7, b] = T.log2(T.abs(x)) + T.log10(T.abs(x)) + T.sqrt(T.abs(x))

    return main
