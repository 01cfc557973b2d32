# A value taken between two loops over the same rows keeps them apart.
# verify: :between
# verify: :between N=40
# verify: :inside
# verify: :by_hand
import tilelang
import tilelang.language as T


@tilelang.jit
def between(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32"), Z: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_fragment((N,), "float32")
            s = T.alloc_shared((N,), "float32")
            for i in T.Parallel(N):
                s[i] = X[i] * 2
            last = s[N - 1]
            for i in T.Parallel(N):
                a[i] = T.exp(last - s[i])
            for i in T.Parallel(N):
                Y[i] = a[i]
            first = s[0] + last
            for i in T.Parallel(N):
                Z[i] = a[i] * first

    return main


# Names between nested parallel loops.
@tilelang.jit
def inside(M=12, N=20):
    @T.prim_func
    def main(X: T.Tensor((M * N,), "float32"), Y: T.Tensor((M * N,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(M):
                row = i * N
                k = X[row]
                for j in T.Parallel(N):
                    Y[row + j] = X[row + j] + k

    return main


# T.let gives a variable its value.
@tilelang.jit
def by_hand(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(4, threads=32) as bx:
            at = T.int32()
            T.let(at, bx * (N // 4))
            T.copy(X[at : at + N // 4], Y[at : at + N // 4])

    return main
