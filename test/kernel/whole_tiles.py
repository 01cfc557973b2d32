# Blocks that lie inside of their tensors ask once; those at the end ask for each element.
# verify: :line n=0
# verify: :line n=1
# verify: :line n=2047
# verify: :line n=2048
# verify: :line n=4099
# verify: :casts n=100
# verify: :casts n=128
# verify: :parts n=1000 m=3
# verify: :parts n=4096 m=600
import tilelang
import tilelang.language as T


@tilelang.jit
def line():
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "float16"), B: T.Tensor((n,), "float16"), C: T.Tensor((n,), "float16")):
        with T.Kernel(T.ceildiv(n, 2048), threads=128) as bx:
            for i in T.Parallel(2048):
                at = bx * 2048 + i
                C[at] = A[at] * B[at]

    return main


@tilelang.jit
def casts():
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n, 1, 144), "float32"), B: T.Tensor((n, 1, 144), "bfloat16")):
        with T.Kernel(T.ceildiv(n, 64), 1, threads=128) as (bx, by):
            T.copy(A[bx * 64 : (bx + 1) * 64, by, :], B[bx * 64 : (bx + 1) * 64, by, :])

    return main


@tilelang.jit
def parts():
    n, m = T.dynamic("n, m")

    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((m,), "float32"), C: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 512), threads=64) as bx:
            x = T.alloc_fragment((512,), "float32")
            for i in T.Parallel(512):
                x[i] = T.if_then_else(i + bx < m, B[i + bx], 0)
            for i in T.Parallel(512):
                if bx * 512 + i >= 3:
                    C[bx * 512 + i] = A[bx * 512 + i] + x[i]
                else:
                    C[bx * 512 + i] = x[i]

    return main
