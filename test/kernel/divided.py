# Loads at j // 2, j // G in nests: what several neighbours share is read once, they go together.
# verify: :nibbles
# verify: :nibbles K=96
# verify: :halves
# verify: :scales
# verify: :scales G=4 dtype=float32
# verify: :registers
# verify: :ragged
# verify: :stores
# verify: :exchanged
# verify: :exchanged dtype=float16
import tilelang
import tilelang.language as T


@tilelang.jit
def nibbles(N=64, K=128):
    @T.prim_func
    def main(W: T.Tensor((N, K // 2), "uint8"), C: T.Tensor((N, K), "float16")):
        with T.Kernel(N // 32, threads=64) as by:
            w = T.alloc_shared((32, K // 2), "uint8")
            d = T.alloc_shared((32, K), "float16")
            T.copy(W[by * 32, 0], w)
            for i, j in T.Parallel(32, K):
                d[i, j] = T.cast((w[i, j // 2] >> T.cast(j % 2 * 4, "uint8")) & T.cast(15, "uint8"), "float16")
            T.copy(d, C[by * 32, 0])

    return main


@tilelang.jit
def halves(N=32, K=128):
    @T.prim_func
    def main(W: T.Tensor((N, K // 4), "uint8"), C: T.Tensor((N, K), "int8")):
        with T.Kernel(1, threads=64):
            for i, j in T.Parallel(N, K):
                C[i, j] = T.cast((W[i, j // 4] >> T.cast(j % 4 * 2, "uint8")) & T.cast(3, "uint8"), "int8")

    return main


@tilelang.jit
def scales(N=32, K=128, G=32, dtype="float16"):
    @T.prim_func
    def main(W: T.Tensor((N, K), "int8"), S: T.Tensor((N, K // G), dtype), C: T.Tensor((N, K), "float16")):
        with T.Kernel(2, threads=64) as bx:
            for i, j in T.Parallel(N // 2, K):
                row = bx * (N // 2) + i
                C[row, j] = T.cast(W[row, j], dtype) * S[row, j // G]

    return main


@tilelang.jit
def registers(N=32, K=64):
    @T.prim_func
    def main(W: T.Tensor((N, K // 2), "int8"), C: T.Tensor((N, K), "int16")):
        with T.Kernel(N, threads=4) as by:
            tx = T.get_thread_binding(0)
            w = T.alloc_local((8,), "int8")
            d = T.alloc_local((16,), "int16")
            for v in T.vectorized(8):
                w[v] = W[by, tx * 8 + v]
            for v in T.serial(16):
                d[v] = T.cast(w[v // 2], "int16") * T.cast(v % 2 + 1, "int16")
            for v in T.vectorized(8):
                C[by, tx * 16 + v] = d[7 - v] + T.cast(w[v // 2], "int16")
            for v in T.vectorized(8):
                C[by, tx * 16 + 8 + v] = d[v + 8]

    return main


@tilelang.jit
def ragged(N=30, K=90):
    @T.prim_func
    def main(W: T.Tensor((N, K // 2), "uint8"), C: T.Tensor((N, K), "uint8")):
        with T.Kernel(T.ceildiv(K, 64), threads=64) as bx:
            for i, j in T.Parallel(32, 64):
                C[i, bx * 64 + j] = W[i, (bx * 64 + j) // 2] >> T.cast(j % 2 * 4, "uint8")

    return main


@tilelang.jit
def stores(N=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((N // 2,), "float32"), D: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=16):
            s = T.alloc_shared((N // 2,), "float32")
            for j in T.Parallel(N):
                if j % 2 == 1:
                    s[j // 2] = A[j]
            T.copy(s, C)
            for j in T.Parallel(N):
                D[j] = A[j] - s[j // 2] + A[j // 16 * 16 + 3]

    return main


# Neighbours change places: of elements that are wider than an access may be, too.
@tilelang.jit
def exchanged(N=64, dtype="int64"):
    @T.prim_func
    def main(A: T.Tensor((2, N), dtype), B: T.Tensor((2, N), dtype), C: T.Tensor((2, N), dtype)):
        with T.Kernel(1, threads=32):
            a = T.alloc_fragment((2, N), dtype)
            for i, j in T.Parallel(2, N):
                a[i, j] = A[i, (j ^ 2) % N] + B[i, j // 2 * 2 + 1 - j % 2]
            T.copy(a, C)

    return main
