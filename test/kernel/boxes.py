# Tiles that leave by bulk copies, of any number of rows: a box starts where its swizzle does.
# verify: :boxes rows=1
# verify: :boxes rows=1 cols=64
# verify: :boxes rows=4
# verify: :boxes rows=8
# verify: :boxes rows=12 cols=64
# verify: :boxes rows=24
# verify: :rounds rows=4
# verify: :rounds rows=1 cols=64
# verify: :small
# verify: :small stages=2
import tilelang
import tilelang.language as T


@tilelang.jit
def boxes(rows=1, cols=1024, dtype="bfloat16"):
    @T.prim_func
    def main(A: T.Tensor((3 * rows, cols), dtype), B: T.Tensor((3 * rows, cols), dtype)):
        with T.Kernel(3, threads=128) as bx:
            s = T.alloc_shared((rows, cols), dtype)
            f = T.alloc_fragment((rows, cols), "float32")
            T.copy(A[bx * rows, 0], f)
            for i, j in T.Parallel(rows, cols):
                s[i, j] = f[i, j] * 2
            T.copy(s, B[bx * rows, 0])

    return main


# Stages of a tile are TMA tiles as well.
@tilelang.jit
def rounds(rows=4, cols=128, n=5, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((n * rows, cols), dtype), B: T.Tensor((rows, cols), "float32")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((rows, cols), dtype)
            f = T.alloc_fragment((rows, cols), "float32")
            T.clear(f)
            for k in T.Pipelined(n, num_stages=3):
                T.copy(A[k * rows, 0], s)
                for i, j in T.Parallel(rows, cols):
                    f[i, j] += s[i, j]
            T.copy(f, B)

    return main


# Small tiles start where their swizzle does as well, whatever stands before them.
@tilelang.jit
def small(K=96, stages=1):
    @T.prim_func
    def main(A: T.Tensor((16, K), "float16"), B: T.Tensor((8, K), "float16"), C: T.Tensor((16, 8), "float32")):
        with T.Kernel(1, threads=128) as bx:
            b = T.alloc_shared((8, 32), "float16")
            z = T.alloc_shared((9, 17), "float32")
            a = T.alloc_shared((16, 32), "float16")
            c = T.alloc_fragment((16, 8), "float32")
            T.clear(c)
            T.fill(z, 1)
            for k in T.Pipelined(K // 32, num_stages=stages):
                T.copy(A[0, k * 32], a)
                T.copy(B[0, k * 32], b)
                T.gemm(a, b, c, transpose_B=True)
            for i, j in T.Parallel(16, 8):
                c[i, j] = c[i, j] + z[8 - j % 3, j]
            T.copy(c, C)

    return main
