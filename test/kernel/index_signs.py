# Numbers of blocks and threads are signed: what is subtracted from them goes below 0.
# verify: :shifted
# verify: :shifted by=130
# verify: :compared
# verify: :tiles
# verify: :tiles rows=300 blocks=7
import tilelang
import tilelang.language as T


@tilelang.jit
def shifted(n=4, by=70):
    """Places before the tensor are asked for, and not read."""
    @T.prim_func
    def main(X: T.Tensor((n, n, n * 64), "float32"), Y: T.Tensor((n, n, n * 64), "float32")):
        with T.Kernel(n, n, n, threads=64) as (bx, i, j):
            tx = T.get_thread_binding()
            Y[j, i, bx * 64 + tx] = 0
            if bx * 64 + tx - by >= 0:
                Y[j, i, bx * 64 + tx] = X[j, i, bx * 64 + tx - by]
            if i - 1 >= 0:
                Y[j, i, bx * 64 + tx] += X[j, i - 1, bx * 64 + tx]
            if j - 2 >= 0:
                Y[j, i, bx * 64 + tx] += X[j - 2, i, tx + (bx - bx % 2) * 64]

    return main


@tilelang.jit
def compared(n=16):
    """What they are compared with may be below 0."""
    @T.prim_func
    def main(X: T.Tensor((n, 3), "int32"), Y: T.Tensor((n, 8), "int32"), Z: T.Tensor((n, 8), "float32")):
        with T.Kernel(n, threads=(2, 2, 2)) as bx:
            tx, ty, tz = T.get_thread_binding(0), T.get_thread_binding(1), T.get_thread_binding(2)
            v = X[bx, 0] - 3
            Y[bx, tx + ty * 2 + tz * 4] = T.if_then_else(bx < v, 1, 0) + T.if_then_else(tx < v, 2, 0) + T.if_then_else(
                ty < v, 4, 0) + T.if_then_else(tz < v, 8, 0) + T.max(bx, v) * 16
            Z[bx, tx + ty * 2 + tz * 4] = (T.cast(bx, "float32") - 5) * T.cast(v, "float32")

    return main


@tilelang.jit
def tiles(rows=200, blocks=4):
    """Blocks that take several tiles, one after the other."""
    @T.prim_func
    def main(X: T.Tensor((rows, 16), "float32"), Y: T.Tensor((rows, 16), "float32"), Z: T.Tensor((T.ceildiv(rows, 8),), "float32")):
        with T.Kernel(blocks, threads=32) as bx:
            for t, in T.Persistent([T.ceildiv(rows, 8)], blocks, bx):
                for i, j in T.Parallel(8, 16):
                    if t * 8 + i < rows:
                        Y[t * 8 + i, j] = X[t * 8 + i, j] + T.if_then_else(t * 8 + i - 77 >= 0, X[t * 8 + i - 77, j], 5.0)
                Z[t] = T.cast(t - 11, "float32")

    return main
