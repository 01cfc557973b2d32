# Rows before a tensor and behind it, numbers of rows that are read, and a loop that reads what it wrote.
# verify: :halo
# verify: :halo st=3 H=8
# verify: :halo_store
# verify: :two_level
# verify: :guard_loaded
# verify: :gather_cols
# verify: :dyn_slice N=50 at=37 n=19
# verify: :causal_conv
# verify: :ring
# verify: :pipe_write_back
import tilelang
import tilelang.language as T


# A tile with rows of its neighbours: the first starts before the tensor.
@tilelang.jit
def halo(N=70, H=5, st=2):
    @T.prim_func
    def main(X: T.Tensor((N, 32), "float16"), Y: T.Tensor((N, 32), "float32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((16 + 2 * H, 32), "float16")
            for b in T.Pipelined(T.ceildiv(N, 16), num_stages=st):
                T.copy(X[b * 16 - H, 0], s)
                for i, j in T.Parallel(16, 32):
                    if b * 16 + i < N:
                        Y[b * 16 + i, j] = T.cast(s[i, j], "float32") + T.cast(s[i + 2 * H, j], "float32")

    return main


# Rows that lie before the tensor or behind it are not stored.
@tilelang.jit
def halo_store(N=40, H=3):
    @T.prim_func
    def main(X: T.Tensor((N + 2 * H, 16), "float32"), Y: T.Tensor((N, 16), "float32")):
        with T.Kernel(T.ceildiv(N + 2 * H, 8), threads=32) as b:
            s = T.alloc_shared((8, 16), "float32")
            T.copy(X[b * 8, 0], s)
            T.copy(s, Y[b * 8 - H, 0])

    return main


# A number of a row that is found by a number.
@tilelang.jit
def two_level(N=21, V=9, W=30, D=16):
    @T.prim_func
    def main(P: T.Tensor((N,), "int32"), Q: T.Tensor((V,), "int32"), E: T.Tensor((W, D), "float16"), Y: T.Tensor((24, D), "float16")):
        with T.Kernel(3, threads=32) as b:
            s = T.alloc_shared((8, D), "float16")
            for i, j in T.Parallel(8, D):
                s[i, j] = T.if_then_else(b * 8 + i < N, E[Q[P[b * 8 + i]], j], T.cast(-1, "float16"))
            T.copy(s, Y[b * 8, 0])

    return main


# Which of two is read is itself read.
@tilelang.jit
def guard_loaded(N=45):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), F: T.Tensor((N,), "uint8"), Y: T.Tensor((64,), "float32")):
        with T.Kernel(4, threads=16) as b:
            for i in T.Parallel(16):
                Y[b * 16 + i] = T.if_then_else(b * 16 + i < N, T.if_then_else(F[b * 16 + i] != 0, X[b * 16 + i], -X[N - 1 - b * 16 - i]), 9.0)

    return main


@tilelang.jit
def gather_cols(M=10, N=40, C=12):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), I: T.Tensor((C,), "int64"), Y: T.Tensor((M, 16), "float32")):
        with T.Kernel(T.ceildiv(M, 4), threads=32) as b:
            for i, j in T.Parallel(4, 16):
                if b * 4 + i < M:
                    Y[b * 4 + i, j] = X[b * 4 + i, I[j]] if j < C else 0.0

    return main


# A slice that the call places, over the end.
@tilelang.jit
def dyn_slice(D=16):
    N = T.dynamic("N")

    @T.prim_func
    def main(X: T.Tensor((N, D), "float16"), Y: T.Tensor((N, D), "float16"), at: T.int32, n: T.int32):
        with T.Kernel(T.ceildiv(n, 8), threads=32) as b:
            s = T.alloc_shared((8, D), "float16")
            T.copy(X[at + b * 8:at + b * 8 + 8, :], s)
            for i, j in T.Parallel(8, D):
                if b * 8 + i < n:
                    Y[b * 8 + i, j] = s[i, j]

    return main


@tilelang.jit
def causal_conv(S=33, C=24, K=4):
    @T.prim_func
    def main(X: T.Tensor((S, C), "bfloat16"), W: T.Tensor((K, C), "bfloat16"), Y: T.Tensor((S, C), "bfloat16")):
        with T.Kernel(T.ceildiv(S, 8), threads=64) as b:
            s = T.alloc_shared((8 + K - 1, C), "bfloat16")
            acc = T.alloc_fragment((8, C), "float32")
            T.copy(X[b * 8 - K + 1, 0], s)
            T.clear(acc)
            for k in T.unroll(K):
                for i, j in T.Parallel(8, C):
                    acc[i, j] += T.cast(s[i + k, j], "float32") * T.cast(W[k, j], "float32")
            T.copy(acc, Y[b * 8, 0])

    return main


# Rows counted around, from negative numbers too.
@tilelang.jit
def ring(N=9, B=4):
    @T.prim_func
    def main(X: T.Tensor((N, 8), "int32"), start: T.Tensor((B,), "int32"), Y: T.Tensor((B, 8), "int32")):
        with T.Kernel(B, threads=8) as b:
            for j in T.Parallel(8):
                acc = T.alloc_var("int32", init=0)
                for t in T.serial(5):
                    acc = acc * 3 + X[(start[b] + t) % N, j]
                Y[b, j] = acc

    return main


# Each round reads what the one before it wrote: nothing may run ahead.
@tilelang.jit
def pipe_write_back(N=64, K=6, st=3):
    @T.prim_func
    def main(X: T.Tensor((K + 1, N), "float32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((N,), "float32")
            for k in T.Pipelined(K, num_stages=st):
                T.copy(X[k, 0], s)
                for i in T.Parallel(N):
                    X[k + 1, i] = s[i] * 0.5 + 1.0

    return main
