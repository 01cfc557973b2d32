# Elements of 4 bits go many at a time where they lie together, one by one where a byte is shared.
# verify: :quantise
# verify: :quantise N=64 rows=3
# verify: :quantise N=40 dtype=int4
# verify: :quantise N=24 dtype=uint4
# verify: :through
# verify: :through dtype=uint4 n=256
# verify: :through n=20
# verify: :edges
import tilelang
import tilelang.language as T


# Through registers and a shared tile, each hop as bits.
@tilelang.jit
def quantise(N=128, rows=8, dtype="float4_e2m1fn"):
    @T.prim_func
    def main(A: T.Tensor((rows, N), "float32"), B: T.Tensor((rows, N), dtype)):
        with T.Kernel(1, threads=64):
            x = T.alloc_fragment((rows, N), "float32")
            y = T.alloc_fragment((rows, N), dtype)
            s = T.alloc_shared((rows, N), dtype)
            T.copy(A, x)
            for i, j in T.Parallel(rows, N):
                y[i, j] = T.cast(T.clamp(x[i, j] * 2.0, 0.0, 6.0), dtype)
            T.copy(y, s)
            T.copy(s, B)

    return main


@tilelang.jit
def through(n=512, dtype="float4_e2m1fn"):
    @T.prim_func
    def main(A: T.Tensor((4, n), dtype), B: T.Tensor((4, n), dtype), C: T.Tensor((4, n), "float16")):
        with T.Kernel(4, threads=32) as bx:
            s = T.alloc_shared((n,), dtype)
            T.copy(A[bx, 0], s)
            for j in T.Parallel(n):
                B[bx, j] = s[j]
            for j in T.Parallel(n):
                C[bx, j] = T.cast(s[j], "float16") + 1.0

    return main


# What float4_e2m1fn makes of halves between its numbers, of zeros and of what is too large.
@tilelang.jit
def edges(n=1024):
    @T.prim_func
    def main(B: T.Tensor((n,), "float4_e2m1fn"), C: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=128):
            for i in T.Parallel(n):
                B[i] = T.cast(T.cast(i - n // 2, "float32") * 0.03125, "float4_e2m1fn")
            for i in T.Parallel(n):
                C[i] = T.cast(T.cast(T.cast(i - n // 2, "float32") * 0.03125, "float4_e2m1fn"), "float32")

    return main
