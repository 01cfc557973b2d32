# Indices that are always negative count from the end, in loops, too.
# verify: :backwards
# verify: :backwards N=1
# verify: :stored_backwards
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def backwards(N=20):
    @T.prim_func
    def main(X: T.Tensor((3, N), "float32"), Y: T.Tensor((3, N), "float32")):
        with T.Kernel(3, threads=32) as b:
            t = T.alloc_shared((N,), "float32")
            for j in T.Parallel(N):
                t[j] = X[-1 - b, -1 - j]
                T.device_assert(t[j] == X[2 - b, N - 1 - j])
            for j in T.Parallel(N):
                k = j - N
                Y[b, j] = t[k]
                T.device_assert(t[j] == Y[b, j])

    return main


@tilelang.jit(out_idx=[-1])
def stored_backwards(N=33):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=32):
            for j in T.Parallel(N):
                Y[-1 - j] = X[j]
            for j in T.Parallel(N):
                T.atomic_add(Y[-N + j], j)
            for j in T.Parallel(N):
                T.device_assert(Y[j] == X[N - 1 - j] + j)

    return main
