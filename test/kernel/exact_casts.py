# Integers cast to a narrow float: those that fit its mantissa need no rounding, the others do.
# verify: :nibbles
# verify: :nibbles dtype=bfloat16
# verify: :bytes_
# verify: :bytes_ dtype=bfloat16
# verify: :wide
# verify: :wide dtype=bfloat16
import tilelang
import tilelang.language as T


@tilelang.jit
def nibbles(N=77, dtype="float16"):
    @T.prim_func
    def main(W: T.Tensor((N,), "uint8"), S: T.Tensor((N,), dtype), C: T.Tensor((2 * N,), dtype)):
        with T.Kernel(1, threads=32) as _:
            for i in T.Parallel(N):
                low = T.cast(W[i] & T.cast(15, "uint8"), "int32") - 8
                high = T.cast(W[i] >> T.cast(4, "uint8"), "int32") - 8
                C[2 * i] = low.astype(dtype) * S[i]
                C[2 * i + 1] = high.astype(dtype) * S[i]

    return main


@tilelang.jit
def bytes_(N=77, dtype="float16"):
    """255 * 3 is more than a bfloat16 holds and fits a float16."""
    @T.prim_func
    def main(W: T.Tensor((N,), "uint8"), C: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as _:
            for i in T.Parallel(N):
                v = T.cast(W[i], "int32") * 3
                C[i] = T.cast(v.astype(dtype), "float32") * 1.5

    return main


@tilelang.jit
def wide(N=77, dtype="float16"):
    @T.prim_func
    def main(W: T.Tensor((N,), "uint8"), C: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as _:
            for i in T.Parallel(N):
                v = T.cast(W[i], "int32") * 31 - 2049
                C[i] = T.cast(v.astype(dtype), "float32") + T.cast((v - 1).astype(dtype), "float32")

    return main
