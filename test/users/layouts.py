# Layout inference and internal errors on legal code.
# right: TL#2398 :wide N=192
# right: TL#2398 :wide N=229
# right: TL#2398 :wide N=257
# right: TL#2394 :wide N=24
# right: TL#2394 :wide N=40
# right: TL#2394 :wide N=48 threads=96
# right: TL#2394 :wide N=96
# right: TL#1374 :reshaped M=16 N=448
# right: TL#1374 :reshaped M=1 N=7168
# right: TL#2883 :long_nest
# right: TL#1165 :cast_result
# right: TL#40 :cast_result M=48 N=40
# right: TL#2309 :two_loops
# right: TL#2309 :two_loops a=3 b=1
# right: TL#2876 :condition
# right: TL#2563 :packed
# right: TL#2385 :pair src=float8_e4m3fn dst=bfloat16
# right: TL#2610 :pair src=int8 dst=float16
# right: TL#2997 :pair src=bfloat16 dst=float8_e5m2
# right: TL#3026 :pair src=uint8 dst=float32
# right: TL#3027 :pair src=float32 dst=int32
# right: TL#3014 :pair src=float16 dst=bfloat16
# right: TL#3034 :pair src=int32 dst=float64
# right: TL#2395 :pair src=bool dst=int8
# refused-gpu: TL#2201 :too_much_shared [on-chip-bytes]
import tilelang
import tilelang.language as T


# Rows wider than the threads, and no multiple of them.
@tilelang.jit
def wide(M=8, N=192, threads=128):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            f = T.alloc_fragment((M, N), "float32")
            m = T.alloc_fragment((M,), "float32")
            T.copy(A, f)
            T.reduce_max(f, m, dim=1)
            for i, j in T.Parallel(M, N):
                f[i, j] = T.exp(f[i, j] - m[i])
            T.reduce_sum(f, m, dim=1)
            for i, j in T.Parallel(M, N):
                f[i, j] = f[i, j] / m[i]
            T.copy(f, B)

    return main


@tilelang.jit
def reshaped(M=16, N=448, part=32):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N // part), "float32")):
        with T.Kernel(1, threads=128) as bx:
            f = T.alloc_fragment((M, N), "float32")
            m = T.alloc_fragment((M, N // part), "float32")
            T.copy(A, f)
            T.reduce_max(T.reshape(f, (M, N // part, part)), m, dim=2)
            T.copy(m, B)

    return main


@tilelang.jit
def long_nest(M=64, N=8192):
    @T.prim_func
    def main(A: T.Tensor((M, N), "int8"), B: T.Tensor((M, N), "int8")):
        with T.Kernel(1, threads=512) as bx:
            for i, j in T.Parallel(M, N):
                B[i, j] = A[i, j] + 1

    return main


# A result in registers as one product leaves it, cast, and as the next one wants it.
@tilelang.jit
def cast_result(M=64, N=32, K=32):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), V: T.Tensor((N, K), "float16"), C: T.Tensor((M, K), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, K), "float16")
            b = T.alloc_shared((N, K), "float16")
            v = T.alloc_shared((N, K), "float16")
            s = T.alloc_fragment((M, N), "float32")
            p = T.alloc_fragment((M, N), "float16")
            o = T.alloc_fragment((M, K), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.copy(V, v)
            T.gemm(a, b, s, transpose_B=True, clear_accum=True)
            T.copy(s, p)
            T.gemm(p, v, o, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
            T.copy(o, C)

    return main


@tilelang.jit
def two_loops(M=32, K=64, bk=16, a=2, b=4):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((M, K), "float16"), C: T.Tensor((M, M), "float32"), D: T.Tensor((M, M), "float32")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((M, bk), "float16")
            u = T.alloc_shared((M, bk), "float16")
            c = T.alloc_fragment((M, M), "float32")
            T.clear(c)
            for k in T.Pipelined(K // bk, num_stages=a):
                T.copy(A[0, k * bk], s)
                T.copy(B[0, k * bk], u)
                T.gemm(s, u, c, transpose_B=True)
            T.copy(c, C)
            for k in T.Pipelined(K // bk, num_stages=b):
                T.copy(B[0, k * bk], s)
                T.copy(A[0, k * bk], u)
                T.gemm(s, u, c, transpose_B=True)
            T.copy(c, D)

    return main


@tilelang.jit
def condition(M=32, K=64, bk=16):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), F: T.Tensor((K // bk,), "int32"), C: T.Tensor((M, M), "float32")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((M, bk), "float16")
            c = T.alloc_fragment((M, M), "float32")
            T.clear(c)
            for k in T.Pipelined(K // bk, num_stages=2):
                if F[k] > 0:
                    T.copy(A[0, k * bk], s)
                    T.gemm(s, s, c, transpose_B=True)
            T.copy(c, C)

    return main


@tilelang.jit
def packed(M=32, N=32, K=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "int4"), B: T.Tensor((N, K), "int4"), C: T.Tensor((M, N), "int32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((M, K), "int4")
            b = T.alloc_shared((N, K), "int4")
            c = T.alloc_fragment((M, N), "int32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C)

    return main


@tilelang.jit
def pair(N=72, src="float16", dst="float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), src), B: T.Tensor((N,), dst)):
        with T.Kernel(1, threads=32) as bx:
            s = T.alloc_shared((N,), src)
            f = T.alloc_fragment((N,), dst)
            T.copy(A, s)
            for i in T.Parallel(N):
                f[i] = T.cast(s[N - 1 - i], dst)
            T.copy(f, B)

    return main


@tilelang.jit
def too_much_shared(N=256):
    @T.prim_func
    def main(A: T.Tensor((N, N), "float32"), B: T.Tensor((N, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((N, N), "float32")
            T.copy(A, s)
            for i, j in T.Parallel(N, N):
                B[i, j] = s[j, i]

    return main
