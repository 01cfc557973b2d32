# Tensors larger than the caches: a row is stored while the next one is computed (opt_skew).
# verify: :softmax
# verify: :rms_norm
# verify: :carried
import tilelang
import tilelang.language as T


def large(N):
    """Rows of Y, most of which are never touched."""
    return (9 << 20) // N


@tilelang.jit
def softmax(M=38, N=37, rows=5):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((large(N), N), "float32")):
        with T.Kernel(T.ceildiv(M, rows), threads=32) as bx:
            x = T.alloc_fragment((rows, N), "float32")
            top = T.alloc_fragment((rows,), "float32")
            total = T.alloc_fragment((rows,), "float32")
            T.copy(X[bx * rows, 0], x)
            T.reduce_max(x, top, dim=1)
            for i, j in T.Parallel(rows, N):
                x[i, j] = T.exp2(x[i, j] - top[i])
            T.reduce_sum(x, total, dim=1)
            for i, j in T.Parallel(rows, N):
                x[i, j] = x[i, j] / total[i]
            T.copy(x, Y[bx * rows, 0])

    return main


@tilelang.jit
def rms_norm(M=40, N=64, rows=8):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((large(N), N), "float32")):
        with T.Kernel(T.ceildiv(M, rows), threads=32) as bx:
            x = T.alloc_fragment((rows, N), "float32")
            square = T.alloc_fragment((rows, N), "float32")
            total = T.alloc_fragment((rows,), "float32")
            T.copy(X[bx * rows, 0], x)
            for i, j in T.Parallel(rows, N):
                square[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(square, total, dim=1)
            for i, j in T.Parallel(rows, N):
                x[i, j] = x[i, j] * T.rsqrt(total[i] / N + 1e-6)
            T.copy(x, Y[bx * rows, 0])

    return main


# Each row is made from the one before in place: it cannot wait.
@tilelang.jit
def carried(M=12, N=32):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((large(N), N), "float32")):
        with T.Kernel(1, threads=32) as bx:
            x = T.alloc_shared((1, N), "float32")
            T.clear(x)
            for i in T.serial(M):
                for j in T.Parallel(N):
                    x[0, j] = x[0, j] * 0.5 + X[i, j]
                for j in T.Parallel(N):
                    Y[i, j] = x[0, j] + 1.0

    return main
