# Assertions that hold cost nothing; assumptions are believed.
# verify: :main N=40
# verify: :main N=1
import tilelang
import tilelang.language as T


@tilelang.jit
def main(N=40):
    @T.prim_func
    def kernel(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(N, threads=1) as bx:
            T.device_assert(bx < N, "within the tensor")
            T.assume(bx >= 0)
            assert bx >= 0, "blocks count from 0"
            Y[bx] = X[bx]

    return kernel
