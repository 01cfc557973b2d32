# Tiles that leave by bulk copies, of any number of rows: a box starts where its swizzle does.
# verify: :boxes rows=1
# verify: :boxes rows=1 cols=64
# verify: :boxes rows=4
# verify: :boxes rows=8
# verify: :boxes rows=12 cols=64
# verify: :boxes rows=24
# verify: :rounds rows=4
# verify: :rounds rows=1 cols=64
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


# Slots of a ring are boxes as well.
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
