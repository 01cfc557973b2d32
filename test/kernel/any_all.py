# T.any_of and T.all_of.
# verify: :main N=1
# verify: :main N=24
# verify: :main N=97
# verify: :steers
# verify: :steers n=3 M=40
# verify: :steers n=20
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


# What a region of any tensor says steers the block: tiles are copied and multiplied, or are not.
@tilelang.jit
def steers(M=32, n=2, K=4):
    @T.prim_func
    def kernel(A: T.Tensor((K, M, 32), "float32"), Mask: T.Tensor((K, n), "bool"),
               B: T.Tensor((M, 32), "float32")):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((M, 32), "float32")
            own = T.alloc_local((n,), "bool")
            f = T.alloc_fragment((M, 32), "float32")
            T.clear(f)
            for k in T.Pipelined(K, num_stages=2):
                if T.any_of(Mask[k, :]):
                    T.copy(A[k, 0, 0], s)
                    for i, j in T.Parallel(M, 32):
                        f[i, j] += s[i, j]
            for k in T.serial(K):
                for i in T.serial(n):
                    own[i] = Mask[k, i]
                if T.all_of(own):
                    T.copy(A[k, 0, 0], s)
                    for i, j in T.Parallel(M, 32):
                        f[i, j] += s[M - 1 - i, j]
            T.copy(f, B)

    return kernel
