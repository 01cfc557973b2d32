# T.alloc_reducer: an epoch of contributions, seeded or not, then a result.
# verify: :reducers op=sum
# verify: :reducers op=max
# verify: :reducers op=min
# verify: :reducers op=sum seed=True
# verify: :reducers op=max seed=True N=97
# verify: :reducers op=bitor dtype=int32
# verify: :reducers op=bitand dtype=int32
# verify: :reducers op=bitxor dtype=int32
# verify: :reducers op=sum M=1 N=1
# verify: :seed_of_a_tile
# verify: :in_place
# verify: :in_place M=7 N=33 threads=96
import tilelang
import tilelang.language as T


@tilelang.jit
def reducers(M=24, N=40, op="sum", seed=False, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M,), dtype)):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_fragment((M, N), dtype)
            y = T.alloc_fragment((M,), dtype)
            acc = T.alloc_reducer((M,), dtype, op=op)
            T.copy(X, x)
            if seed:
                T.reducer_init(acc, 2)
            else:
                T.reducer_init(acc)
            for i, j in T.Parallel(M, N):
                T.reducer_update(acc[i], x[i, j])
            T.finalize_reducer(acc, y)
            T.copy(y, Y)

    return main


# Closed without a tile: the reducer itself is read, twice, and opened again.
@tilelang.jit
def in_place(M=24, N=40, threads=64):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M,), "float32"), Z: T.Tensor((M,), "float16"),
             W: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            x = T.alloc_fragment((M, N), "float32")
            acc = T.alloc_reducer(M, "float32", replication="all")
            T.copy(X, x)
            T.clear(acc)
            for i, j in T.Parallel(M, N):
                acc[i] += x[i, j] * 0.5
            T.finalize_reducer(acc)
            T.copy(acc, Y)
            for i in T.Parallel(M):
                Z[i] = acc[M - 1 - i] + 1
            T.clear(acc)
            for i, j in T.Parallel(M, N):
                acc[i] += X[i, N - 1 - j] + 1
            T.finalize_reducer(acc)
            T.copy(acc, W)

    return main


# The seed is what the tile holds when the epoch opens; every thread sees it.
@tilelang.jit
def seed_of_a_tile(N=24, threads=128):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((threads,), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            x = T.alloc_fragment((N,), "float32")
            seed = T.alloc_fragment((1,), "float32")
            y = T.alloc_fragment((1,), "float32")
            acc = T.alloc_reducer((1,), "float32", op="sum")
            T.copy(X, x)
            seed[0] = 5.0
            T.reducer_init(acc, seed[0])
            seed[0] = 100.0
            for i in T.Parallel(N):
                T.reducer_update(acc[0], x[i])
            T.finalize_reducer(acc, y)
            for i in T.Parallel(threads):
                Y[i] = y[0]

    return main
