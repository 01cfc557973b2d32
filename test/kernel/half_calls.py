# C functions of GPU toolkits by T.call_extern, without their headers.
# verify: :arithmetic
# verify: :arithmetic dtype=bfloat16
# verify: :rounding
# verify: :pairs
# verify: :pairs dtype=bfloat16
# verify: :functions
# verify: :floats
# verify: :bits
# verify: :tanh
import tilelang
import tilelang.language as T


@tilelang.jit
def arithmetic(n=64, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype), C: T.Tensor((n, 8), dtype)):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(n):
                C[i, 0] = T.call_extern(dtype, "__hadd", A[i], B[i])
                C[i, 1] = T.call_extern(dtype, "__hsub", A[i], 1.5)
                C[i, 2] = T.call_extern(dtype, "__hmul_rn", A[i], B[i])
                C[i, 3] = T.call_extern(dtype, "__hfma", A[i], B[i], A[i])
                C[i, 4] = T.call_extern(dtype, "__hmax", T.call_extern(dtype, "__hneg", A[i]), B[i])
                C[i, 5] = T.call_extern(dtype, "__habs", A[i])
                C[i, 6] = T.if_then_else(T.call_extern("bool", "__hlt", A[i], B[i]), A[i], B[i])
                C[i, 7] = T.call_pure_extern(dtype, "hexp2", A[i])

    return main


@tilelang.jit
def rounding(n=64):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), C: T.Tensor((n, 8), "float16"),
             D: T.Tensor((n, 4), "bfloat16"), E: T.Tensor((n, 4), "int32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(n):
                C[i, 0] = T.call_extern("float16", "__float2half_rz", A[i])
                C[i, 1] = T.call_extern("float16", "__float2half_rd", A[i])
                C[i, 2] = T.call_extern("float16", "__float2half_ru", A[i])
                C[i, 3] = T.call_extern("float16", "__float2half", A[i])
                C[i, 4] = T.call_extern("float16", "__float2half_rz", A[i] * 1e-7)
                C[i, 5] = T.call_extern("float16", "__float2half_rd", A[i] * 1e-9)
                C[i, 6] = T.call_extern("float16", "__float2half_ru", A[i] * 1e-9)
                C[i, 7] = T.call_extern("float16", "__float2half_rz", A[i] * 1e9)
                D[i, 0] = T.call_extern("bfloat16", "__float2bfloat16_rz", A[i])
                D[i, 1] = T.call_extern("bfloat16", "__float2bfloat16_rd", A[i])
                D[i, 2] = T.call_extern("bfloat16", "__float2bfloat16_ru", A[i])
                D[i, 3] = T.call_extern("bfloat16", "__float2bfloat16_rn", A[i])
                E[i, 0] = T.call_extern("int32", "__float2int_rn", A[i] * 3)
                E[i, 1] = T.call_extern("int32", "__float2int_rz", A[i] * 3)
                E[i, 2] = T.call_extern("int32", "__float2int_rd", A[i] * 3)
                E[i, 3] = T.call_extern("int32", "__half2int_ru", C[i, 3])

    return main


@tilelang.jit
def pairs(n=32, dtype="float16"):
    two = dtype + "x2"
    word = "half" if dtype == "float16" else "bfloat16"

    @T.prim_func
    def main(A: T.Tensor((n, 4), dtype), B: T.Tensor((n, 12), dtype), F: T.Tensor((n, 2), "float32")):
        with T.Kernel(1, threads=n):
            t = T.get_thread_binding()
            x = T.alloc_local((2,), two)
            y = T.alloc_local((1,), two)
            x[0] = T.call_extern(two, "__halves2half2" if word == "half" else "__halves2bfloat162",
                                 A[t, 0], A[t, 1])
            x[1] = A[t, 2:4]
            y[0] = T.call_extern(two, "__hadd2", x[0], x[1])
            B[t, 0:2] = y[0]
            B[t, 2:4] = T.call_extern(two, "__hfma2", x[0], x[1], y[0])
            B[t, 4:6] = T.call_extern(two, "__lowhigh2highlow", x[0])
            flat = T.view(x, (4,), dtype)
            for i in T.serial(4):
                flat[i] = flat[i] * 2
            B[t, 6:8] = x[1]
            B[t, 8] = T.call_extern(dtype, "__low2" + word, x[0])
            B[t, 9] = T.call_extern(dtype, "__high2" + word, x[0])
            B[t, 10:12] = T.call_extern(two, "__hmax2", x[0], x[1])
            flat[0:2] = T.call_extern(two, "__lowhigh2highlow", x[0])
            A[t, 0:2] = x[0]
            F[t, 0] = T.call_extern("float32", "__low2float", x[1])
            F[t, 1] = T.call_extern("float32", "__high2float", x[1])

    return main


@tilelang.jit
def functions(n=64):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), C: T.Tensor((n, 4), "float32"), H: T.Tensor((n,), "float16")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(n):
                C[i, 0] = T.call_extern("float32", "exp2f", A[i])
                C[i, 1] = T.call_extern("float32", "fmaf", A[i], A[i], 1)
                C[i, 2] = T.call_extern("float32", "fabsf", A[i])
                C[i, 3] = T.call_extern("float32", "__half2float", H[i])

    return main


@tilelang.jit
def bits(n=64):
    @T.prim_func
    def main(A: T.Tensor((n,), "float16"), U: T.Tensor((n,), "uint16"), B: T.Tensor((n,), "float16"),
             I: T.Tensor((n,), "int32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(n):
                U[i] = T.call_extern("uint16", "__half_as_ushort", A[i])
                B[i] = T.call_extern("float16", "__ushort_as_half", U[i] + 1)
                I[i] = T.call_extern("int32", "__float_as_int", T.cast(A[i], "float32"))

    return main


@tilelang.jit
def tanh(n=64):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32"), C: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=64):
            a = T.alloc_fragment((n,), "float32")
            T.copy(A, a)
            for i in T.Parallel(n):
                T.call_extern("handle", "fasttanh", T.address_of(a[i]), T.address_of(B[i]))
            for i in T.Parallel(n):
                C[i] = T.fasttanh(a[i]) + 1

    return main


@tilelang.jit
def floats(n=64):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32"), C: T.Tensor((n, 8), "float32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(n):
                C[i, 0] = T.call_extern("float32", "fmaxf", A[i], B[i])
                C[i, 1] = T.call_extern("float32", "fminf", A[i], 0.25)
                C[i, 2] = T.call_extern("float32", "fmodf", A[i], 0.7)
                C[i, 3] = T.call_extern("float32", "atan2f", A[i], B[i])
                C[i, 4] = T.call_extern("float32", "hypotf", A[i], B[i])
                C[i, 5] = T.call_extern("float32", "copysignf", A[i], B[i])
                C[i, 6] = T.call_extern("float32", "roundf", A[i] * 4)
                C[i, 7] = T.call_extern("float32", "tanf", A[i]) + T.call_extern("float32", "log1pf", T.abs(B[i]))

    return main
