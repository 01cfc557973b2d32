# T.gemm of a tile in registers that is stored K x M: decayed keys times values, as states of a chunk are made.
# verify: :states
# verify: :states K=32 M=64 N=64 dtype=bfloat16
# verify: :states K=64 M=128 N=64
# verify: :states K=64 M=128 N=96 threads=256
# verify: :states K=48 M=64 N=40
# verify: :read_by_columns
# verify: :read_by_columns rows=64
import tilelang.language as T


def states(K=64, M=64, N=64, chunks=3, dtype="float16", threads=128):
    @T.prim_func
    def main(X: T.Tensor((chunks, K, M), dtype), V: T.Tensor((chunks, K, N), dtype), D: T.Tensor((chunks, K), "float32"),
             S: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            x, v = T.alloc_shared((K, M), dtype), T.alloc_shared((K, N), dtype)
            keys = T.alloc_fragment((K, M), dtype)
            state = T.alloc_fragment((M, N), "float32")
            T.clear(state)
            for c in T.serial(chunks):
                T.copy(X[c, 0, 0], x)
                T.copy(V[c, 0, 0], v)
                T.copy(x, keys)
                for k, m in T.Parallel(K, M):
                    keys[k, m] = keys[k, m] * T.cast(D[c, k], dtype)
                for m, n in T.Parallel(M, N):
                    state[m, n] = state[m, n] * 0.5
                T.gemm(keys, v, state, transpose_A=True)
            T.copy(state, S)

    return main


def read_by_columns(rows=128, K=32, N=32):
    """The tile is summed along both of its dimensions besides."""

    @T.prim_func
    def main(X: T.Tensor((K, rows), "float16"), V: T.Tensor((K, N), "float16"), S: T.Tensor((rows, N), "float32"),
             A: T.Tensor((K,), "float32"), B: T.Tensor((rows,), "float32")):
        with T.Kernel(1, threads=128) as bx:
            v = T.alloc_shared((K, N), "float16")
            keys, wide = T.alloc_fragment((K, rows), "float16"), T.alloc_fragment((K, rows), "float32")
            a, b = T.alloc_fragment((K,), "float32"), T.alloc_fragment((rows,), "float32")
            state = T.alloc_fragment((rows, N), "float32")
            T.copy(V, v)
            T.copy(X, keys)
            for k, m in T.Parallel(K, rows):
                wide[k, m] = T.cast(keys[k, m], "float32") * 2
            T.reduce_sum(wide, a, dim=1)
            T.reduce_sum(wide, b, dim=0)
            T.gemm(keys, v, state, transpose_A=True, clear_accum=True)
            T.copy(state, S)
            T.copy(a, A)
            T.copy(b, B)

    return main
