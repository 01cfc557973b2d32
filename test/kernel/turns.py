# A fragment of which each iteration of a loop takes a strip.
# verify: :strips
# verify: :strips dtype=bfloat16 threads=256
# verify: :strips N=24
# verify: :squares
# verify: :squares threads=256
# verify: :written
# verify: :windows
# verify: :windows first=1 n=3
# verify: :windows rows=24 n=2 threads=96
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def strips(M=32, N=64, n=8, dtype="float32", threads=128):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, n), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            x = T.alloc_fragment((M, N), dtype)
            y = T.alloc_fragment((M, n), "float32")
            T.copy(X, x)
            T.clear(y)
            for k in T.serial(N // n):
                for i, j in T.Parallel(M, n):
                    y[i, j] += x[i, k * n + j]
            T.copy(y, Y)

    return main


# The layout is that of an operand of a product.
@tilelang.jit(out_idx=[-2, -1])
def squares(M=32, N=32, K=128, threads=128):
    @T.prim_func
    def main(A: T.Tensor((M, K), "bfloat16"), B: T.Tensor((N, K), "float32"), C: T.Tensor((M, N), "float32"), S: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            a_s = T.alloc_shared((M, 64), "bfloat16")
            a_b = T.alloc_fragment((M, 64), "bfloat16")
            a = T.alloc_fragment((M, 64), "tfloat32")
            b = T.alloc_shared((N, 64), "tfloat32")
            c = T.alloc_fragment((M, N), "float32")
            part = T.alloc_fragment((M, 4), "float32")
            total = T.alloc_fragment((M,), "float32")
            T.clear(c)
            T.clear(part)
            for k in T.Pipelined(K // 64, num_stages=2):
                T.copy(A[0, k * 64], a_s)
                T.copy(B[0, k * 64], b)
                T.copy(a_s, a_b)
                T.copy(a_b, a)
                for q in T.serial(16):
                    for i, j in T.Parallel(M, 4):
                        part[i, j] += a[i, q * 4 + j] * a[i, q * 4 + j]
                T.gemm(a, b, c, transpose_B=True)
            T.reduce_sum(part, total, dim=1)
            T.copy(c, C)
            T.copy(total, S)

    return main


# Each turn writes a strip.
@tilelang.jit(out_idx=[-1])
def written(M=32, N=64, n=16, threads=128):
    @T.prim_func
    def main(X: T.Tensor((M, n), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            x = T.alloc_fragment((M, n), "float32")
            y = T.alloc_fragment((M, N), "float32")
            T.copy(X, x)
            for k in T.serial(N // n):
                for i, j in T.Parallel(M, n):
                    y[i, k * n + j] = x[i, j] * T.cast(k + 1, "float32")
            T.copy(y, Y)

    return main


# Windows of a fragment are written from accumulators; the first of them, or none, starts where it starts.
@tilelang.jit(out_idx=[-1])
def windows(rows=16, n=4, first=0, threads=128):
    @T.prim_func
    def main(A: T.Tensor((4 * rows, 32), "float16"), B: T.Tensor((32, 64), "float16"), C: T.Tensor((4 * rows, 64), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            a = T.alloc_shared((rows, 32), "float16")
            b = T.alloc_shared((32, 64), "float16")
            whole = T.alloc_fragment((4 * rows, 64), "float32")
            part = T.alloc_fragment((rows, 64), "float32")
            T.copy(B, b)
            T.fill(whole, 1)
            for s in T.serial(n):
                T.copy(A[s * rows, 0], a)
                T.gemm(a, b, part, clear_accum=True)
                for i, j in T.Parallel(rows, 64):
                    whole[(first + s) * rows + i, j] += part[i, j]
            T.copy(whole, C)

    return main
