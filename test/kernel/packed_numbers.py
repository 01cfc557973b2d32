# Fields of packed integers, taken out by shifts in the type that a constant says.
# verify: :signed_fields
# verify: :signed_fields bits=2
# verify: :widened
import tilelang
import tilelang.language as T
from tilelang import tvm as tvm


def field(bits, word, i, dtype):
    up = tvm.tirx.const(32 - bits, T.int32)
    one = (word >> (i.astype(T.int32) * tvm.tirx.const(bits, T.int32))) & tvm.tirx.const((1 << bits) - 1, "int32")
    return ((one << up) >> up).astype(dtype)


@tilelang.jit
def signed_fields(N=24, bits=4):
    per = 8 // bits

    @T.prim_func
    def main(A: T.Tensor((N,), "int8"), B: T.Tensor((N * per,), "float16")):
        with T.Kernel(1, threads=32) as bx:
            for i, j in T.Parallel(N, per):
                B[i * per + j] = field(bits, A[i], j, T.float16)

    return main


@tilelang.jit
def widened(N=16):
    @T.prim_func
    def main(A: T.Tensor((N,), "uint8"), B: T.Tensor((N,), "int32"), C: T.Tensor((N,), "int64")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                B[i] = A[i] << T.int32(20)
                C[i] = (A[i] + T.int64(1)) << 40

    return main
