# T.any_of and T.all_of.
# verify: :main N=1
# verify: :main N=24
# verify: :main N=97
# verify: :steers
# verify: :steers n=3 M=40
# verify: :steers n=20
# verify: :asks_again
# verify: :asks_again N=20 threads=32
# verify: :held
# verify: :held threads=32
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


# The answer is the same in all threads: they wait for each other under it.
@tilelang.jit
def asks_again(M=6, N=200, threads=128):
    @T.prim_func
    def kernel(X: T.Tensor((M, N), "int8"), Y: T.Tensor((M,), "int32")):
        with T.Kernel(M, threads=threads) as bx:
            x = T.alloc_shared((N,), "bool")
            for i in T.Parallel(N):
                x[i] = (X[bx, i] > 0 or bx == 0) and bx != 1
            if T.any_of(x):
                if T.all_of(x):
                    Y[bx] = 2
                else:
                    Y[bx] = 1
            else:
                Y[bx] = 0

    return kernel


# Also about elements that are spread over the threads.
@tilelang.jit
def held(M=6, N=64, threads=64):
    @T.prim_func
    def kernel(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(M, threads=threads) as bx:
            x = T.alloc_fragment((N,), "float32")
            t = T.alloc_shared((N,), "float32")
            T.copy(X[bx, 0], x)
            for i in T.Parallel(N):
                x[i] = T.if_then_else(bx % 2 == 0, 0.0, x[i])
            if T.any_of(x):
                T.copy(x, t)
                for i in T.Parallel(N):
                    Y[bx, i] = t[N - 1 - i]
            else:
                T.fill(Y[bx, 0:N], 1.0)

    return kernel
