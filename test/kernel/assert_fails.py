# An assertion that does not hold ends the run with its message.
# fails: assertion failed: the tenth block
# verify: N=40
import tilelang
import tilelang.language as T


@tilelang.jit
def fails(N=40):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(N, threads=1) as bx:
            T.device_assert(bx != 10, "the tenth block")
            Y[bx] = X[bx]

    return main
