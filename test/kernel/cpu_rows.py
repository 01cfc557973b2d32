# Loops over the same rows: joined, run in strips, or left alone because one reads what another
# iteration wrote.
# verify: :softmax
# verify: :softmax M=5 N=33 bm=4
# verify: :softmax M=8 N=16 bm=1
# verify: :softmax M=6 N=2100 bm=3
# verify: :softmax M=4 N=40 dtype=float16
# verify: :norm M=6 N=100
# verify: :norm M=7 N=4100 bm=2
# verify: :reversed_row M=5 N=40
# verify: :shifted_rows M=8 N=20
# verify: :transposed M=24
# verify: :twice M=6 N=50
# verify: :one_scalar M=6 N=50
# verify: :strips M=64 N=300 --gfx90a=on-chip-bytes --gfx942=on-chip-bytes --sm_120a=on-chip-bytes
# verify: :strips M=60 N=300 bm=60 --gfx90a=on-chip-bytes --gfx942=on-chip-bytes --sm_120a=on-chip-bytes
# verify: :strips M=21 N=300 bm=8
# verify: :strips M=61 N=300 bm=32 --gfx90a=on-chip-bytes --gfx942=on-chip-bytes
# verify: :extremes N=64
# verify: :extremes N=75
# verify: :many_folds M=4 N=70
# verify: :masked M=9 N=50
# verify: :overwritten M=6 N=48
# verify: :carried M=6 N=48
import tilelang
import tilelang.language as T


@tilelang.jit
def softmax(M=8, N=100, bm=4, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, bm), threads=128) as bx:
            x = T.alloc_fragment((bm, N), "float32")
            top = T.alloc_fragment((bm,), "float32")
            total = T.alloc_fragment((bm,), "float32")
            T.copy(X[bx * bm, 0], x)
            T.reduce_max(x, top, dim=1)
            for i, j in T.Parallel(bm, N):
                x[i, j] = T.exp2(x[i, j] * 1.5 - top[i] * 1.5)
            T.reduce_sum(x, total, dim=1)
            for i, j in T.Parallel(bm, N):
                x[i, j] = x[i, j] / total[i]
            T.copy(x, Y[bx * bm, 0])

    return main


@tilelang.jit
def norm(M=8, N=100, bm=4):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), W: T.Tensor((N,), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(M, bm), threads=128) as bx:
            x = T.alloc_fragment((bm, N), "float32")
            square = T.alloc_fragment((bm, N), "float32")
            total = T.alloc_fragment((bm,), "float32")
            T.copy(X[bx * bm, 0], x)
            for i, j in T.Parallel(bm, N):
                square[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(square, total, dim=1)
            for i in T.Parallel(bm):
                total[i] = T.rsqrt(total[i] / N + 0.001)
            for i, j in T.Parallel(bm, N):
                x[i, j] = x[i, j] * total[i] * W[j]
            T.copy(x, Y[bx * bm, 0])

    return main


@tilelang.jit
def reversed_row(M=8, N=100):
    """The second loop reads what other iterations of the first wrote."""

    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            x = T.alloc_fragment((M, N), "float32")
            y = T.alloc_fragment((M, N), "float32")
            for i, j in T.Parallel(M, N):
                x[i, j] = X[i, j] * 2
            for i, j in T.Parallel(M, N):
                y[i, j] = x[i, N - 1 - j] + x[i, j]
            T.copy(y, Y)

    return main


@tilelang.jit
def shifted_rows(M=8, N=20):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            x = T.alloc_shared((M, N), "float32")
            T.copy(X, x)
            for i, j in T.Parallel(M, N):
                Y[i, j] = x[(i + 1) % M, j] - x[i, j]

    return main


@tilelang.jit
def transposed(M=24):
    @T.prim_func
    def main(X: T.Tensor((M, M), "float32"), Y: T.Tensor((M, M), "float32")):
        with T.Kernel(1, threads=128) as bx:
            x = T.alloc_shared((M, M), "float32")
            for i, j in T.Parallel(M, M):
                x[i, j] = X[i, j] + 1
            for i, j in T.Parallel(M, M):
                Y[i, j] = x[j, i]

    return main


@tilelang.jit
def twice(M=8, N=100):
    """A tile written, read, written and read again, beside one only written."""

    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32"), Z: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            x = T.alloc_fragment((M, N), "float32")
            unread = T.alloc_fragment((M, N), "float32")
            for i, j in T.Parallel(M, N):
                x[i, j] = X[i, j] + 1
            T.copy(x, Y)
            for i, j in T.Parallel(M, N):
                unread[i, j] = x[i, j]
                x[i, j] = x[i, j] * X[i, j]
            T.copy(x, Z)

    return main


@tilelang.jit
def one_scalar(M=8, N=100):
    """Both loops use the same scalar: they may not be mixed."""

    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M,), "float32"), Z: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_var("float32")
            s = 0.0
            for i in T.serial(M):
                for j in T.serial(N):
                    s = s + X[i, j]
                Y[i] = s
            for i in T.serial(M):
                for j in T.serial(N):
                    s = T.max(s, X[i, j])
                Z[i] = s

    return main


@tilelang.jit
def strips(M=64, N=300, bm=64):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32"), S: T.Tensor((M,), "float32")):
        with T.Kernel(T.ceildiv(M, bm), threads=128) as bx:
            x = T.alloc_shared((bm, N), "float32")
            y = T.alloc_shared((bm, N), "float32")
            top = T.alloc_fragment((bm,), "float32")
            scale = T.alloc_fragment((bm,), "float32")
            total = T.alloc_fragment((bm,), "float32")
            T.copy(X[bx * bm, 0], x)
            T.reduce_max(x, top, dim=1)
            for i in T.Parallel(bm):
                scale[i] = T.exp2(top[i] * -0.25)
            for i, j in T.Parallel(bm, N):
                y[i, j] = T.exp(x[i, j] - top[i]) * scale[i]
            T.reduce_sum(y, total, dim=1)
            for i in T.Parallel(bm):
                total[i] = total[i] + scale[i]
            T.copy(y, Y[bx * bm, 0])
            T.copy(total, S[bx * bm])

    return main


@tilelang.jit
def extremes(N=64):
    """Exponentials at the ends of their range, over and beside whole vectors."""

    @T.prim_func
    def main(Y: T.Tensor((6, N), "float32"), S: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=128) as bx:
            x = T.alloc_fragment((N,), "float32")
            for j in T.Parallel(N):
                x[j] = (j - N // 2) * 9.75
            for j in T.Parallel(N):
                Y[0, j] = T.exp2(x[j])
            for j in T.Parallel(N):
                Y[1, j] = T.exp(x[j])
            for j in T.Parallel(N):
                Y[2, j] = T.exp2(x[j] * 1e37)
            for j in T.Parallel(N):
                Y[3, j] = T.exp(x[j] * 1e37)
            for j in T.Parallel(N):
                Y[4, j] = T.exp2(x[j] * 0.5 - 120)
            for j in T.Parallel(N):
                Y[5, j] = T.exp2(-x[j] / 1000) + T.sqrt(T.abs(x[j]))
            for j in T.Parallel(N):
                S[j] = T.exp(T.min(x[j], 1.0)) - T.max(x[j], -2.0)

    return main


@tilelang.jit
def many_folds(M=4, N=70):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((4, M), "float32")):
        with T.Kernel(1, threads=128) as bx:
            x = T.alloc_fragment((M, N), "float32")
            a = T.alloc_fragment((M,), "float32")
            b = T.alloc_fragment((M,), "float32")
            c = T.alloc_fragment((M,), "float32")
            d = T.alloc_fragment((M,), "float32")
            T.copy(X, x)
            T.reduce_sum(x, a, dim=1)
            T.reduce_max(x, b, dim=1)
            T.reduce_min(x, c, dim=1)
            T.reduce_absmax(x, d, dim=1)
            for i in T.Parallel(M):
                Y[0, i] = a[i]
                Y[1, i] = b[i]
                Y[2, i] = c[i]
                Y[3, i] = d[i]

    return main


@tilelang.jit
def masked(M=9, N=50, bm=4):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M,), "float32")):
        with T.Kernel(T.ceildiv(M, bm), threads=128) as bx:
            x = T.alloc_fragment((bm, N), "float32")
            top = T.alloc_fragment((bm,), "float32")
            T.copy(X[bx * bm, 0], x)
            for i, j in T.Parallel(bm, N):
                x[i, j] = T.if_then_else(j <= bx * bm + i, x[i, j], -1e30)
            T.reduce_max(x, top, dim=1)
            T.copy(top, Y[bx * bm])

    return main


@tilelang.jit
def overwritten(M=6, N=48):
    """The copy is overwritten by the loop that reads it, but not where the one after reads."""

    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            x = T.alloc_shared((M, N), "float32")
            T.copy(X, x)
            for i, j in T.Parallel(M, N // 2):
                x[i, j] = x[i, j] * 3
            for i, j in T.Parallel(M, N):
                Y[i, j] = x[i, j] + 1

    return main


@tilelang.jit
def carried(M=6, N=48):
    """Around a loop, what is stored last is read first."""

    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            x = T.alloc_shared((M, N), "float32")
            y = T.alloc_shared((M, N), "float32")
            T.clear(x)
            for step in T.serial(3):
                for i, j in T.Parallel(M, N):
                    y[i, j] = x[i, j] + X[i, j]
                for i, j in T.Parallel(M, N):
                    Y[i, j] = y[i, j]
                for i, j in T.Parallel(M, N):
                    x[i, j] = y[i, j] * 0.5

    return main
