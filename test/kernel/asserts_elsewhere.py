# What is asserted where a block does not go says nothing about it.
# verify: :main
import tilelang
import tilelang.language as T


@tilelang.jit
def main(n=64):
    @T.prim_func
    def kernel(X: T.Tensor((n,), "int32"), B: T.Tensor((n,), "bfloat16"), Y: T.Tensor((n,), "int32"), I: T.Tensor((n,), "int32")):
        with T.Kernel(n, threads=1) as bx:
            v = bx * 2097169 - 1048576
            if X[bx] > 1000000:
                T.device_assert(v < 256, "not here")
                T.device_assert(v > -256, "not here")
            B[bx] = T.cast(v, "bfloat16")
            Y[bx] = v * 77 + X[bx]
            I[bx] = T.cast(T.cast(v, "int64") * 100003 // 100003, "int32")

    return kernel
