# Views of swizzled shared tiles: other shapes, wider and narrower elements, read by one thread.
# verify: :scalar
# verify: :wider
# verify: :narrower
import tilelang.language as T
import tilelang


@tilelang.jit
def scalar(N=65):
    @T.prim_func
    def main(A: T.Tensor((30, N), "bfloat16"), B: T.Tensor((2,), "bfloat16"), C: T.Tensor((24, 64), "bfloat16")):
        with T.Kernel(2, threads=128) as bx:
            s = T.alloc_shared((24, 32), "bfloat16")
            T.copy(A[0, bx * 32], s)
            v = T.reshape(s, [48, 16])
            B[bx] = v[28, 5]
            T.copy(s, C[0, bx * 32])

    return main


@tilelang.jit
def wider(N=65):
    @T.prim_func
    def main(A: T.Tensor((30, N), "int16"), B: T.Tensor((48, 8), "int32"), C: T.Tensor((24, 64), "int16")):
        with T.Kernel(2, threads=128) as bx:
            s = T.alloc_shared((24, 32), "int16")
            T.copy(A[0, bx * 32], s)
            v = T.view(s, [48, 8], "int32")
            for i, j in T.Parallel(24, 8):
                B[bx * 24 + i, j] = v[i + 24 * bx, j]
            T.copy(s, C[0, bx * 32])

    return main


@tilelang.jit
def narrower(N=64):
    @T.prim_func
    def main(A: T.Tensor((64, N), "int32"), B: T.Tensor((64, 64), "int16"), C: T.Tensor((2,), "int16")):
        with T.Kernel(2, threads=128) as bx:
            s = T.alloc_shared((64, 32), "int32")
            T.copy(A[0, bx * 32], s)
            v = T.view(s, [64, 64], "int16")
            C[bx] = v[33, 17]
            for i, j in T.Parallel(32, 64):
                B[bx * 32 + i, j] = v[2 * i + bx, j]

    return main
