# T.any_of and T.all_of.
# verify: :main N=1
# verify: :main N=24
# verify: :main N=97
import tilelang
import tilelang.language as T


@tilelang.jit
def main(M=16, N=24):
    @T.prim_func
    def kernel(X: T.Tensor((M, N), "int32"), Y: T.Tensor((M, 4), "int32")):
        with T.Kernel(M, threads=32) as bx:
            s = T.alloc_shared((N,), "int32")
            T.copy(X[bx, 0], s)
            for i in T.Parallel(N):
                s[i] = T.if_then_else(s[i] > bx - 6, 1, 0)
            Y[bx, 0] = T.if_then_else(T.any_of(s), 1, 0)
            Y[bx, 1] = T.if_then_else(T.all_of(s), 1, 0)
            if T.any_of(s[0:N]):
                Y[bx, 2] = 5
            else:
                Y[bx, 2] = 6
            if T.all_of(s[0:1]):
                Y[bx, 3] = 7
            else:
                Y[bx, 3] = 8

    return kernel
