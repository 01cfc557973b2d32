# A value taken between two loops over the same rows keeps them apart.
# verify:
# verify: N=40
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
