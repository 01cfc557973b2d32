# T.Persistent and the tile scheduler: every tile once, whatever the number of workers.
# verify: :waves M=33 N=40 workers=1
# verify: :waves M=33 N=40 workers=3
# verify: :waves M=64 N=64 workers=7
# verify: :waves M=100 N=20 workers=64
# verify: :groups M=5 N=9 workers=4
# verify: :scheduler M=50 N=70 workers=3
# verify: :scheduler M=50 N=70 workers=5 swizzle=2
import tilelang
import tilelang.language as T


@tilelang.jit
def waves(M=33, N=40, b=16, workers=3):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(workers, threads=32) as bx:
            s = T.alloc_shared((b, b), "float32")
            for by, bz in T.Persistent([T.ceildiv(M, b), T.ceildiv(N, b)], workers, bx):
                T.copy(X[by * b, bz * b], s)
                for i, j in T.Parallel(b, b):
                    s[i, j] = s[i, j] + by
                T.copy(s, Y[by * b, bz * b])

    return main


@tilelang.jit
def groups(M=5, N=9, workers=4):
    @T.prim_func
    def main(Y: T.Tensor((M, N), "int32")):
        with T.Kernel(workers, threads=1) as bx:
            for i, j in T.Persistent([M, N], workers, bx, group_size=2):
                Y[i, j] = i * 100 + j

    return main


@tilelang.jit
def scheduler(M=50, N=70, b=16, workers=3, swizzle=1):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(workers, threads=32) as bx:
            s = T.alloc_shared((b, b), "float32")
            sched = T.PersistentTileScheduler(T.ceildiv(M, b), T.ceildiv(N, b), workers, swizzle_size=swizzle)
            sched.init(bx)
            while sched.valid():
                T.copy(X[sched.m_idx * b, sched.n_idx * b], s)
                T.copy(s, Y[sched.m_idx * b, sched.n_idx * b])
                sched.next_tile()

    return main
