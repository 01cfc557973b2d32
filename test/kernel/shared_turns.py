# Tiles that fit only because each iteration of a loop fills them anew; what is carried is refused on GPUs.
# verify: :anew K=3 --gfx90a=on-chip-bytes --gfx942=on-chip-bytes --sm_120a=on-chip-bytes
# verify: :anew K=0
# verify: :anew K=3 R=32
# verify: :halves K=2 R=32
# verify: :inner K=2 R=32
# verify: :stored_in_bulk K=3 R=32
# verify: :carried K=2 R=32
# verify: :half_filled K=2 R=32
# verify: :halves K=2 --gfx90a=on-chip-bytes --gfx942=on-chip-bytes --sm_120a=on-chip-bytes
# verify: :inner K=2 --gfx90a=on-chip-bytes --gfx942=on-chip-bytes --sm_120a=on-chip-bytes
# verify: :stored_in_bulk K=3 --gfx90a=on-chip-bytes --gfx942=on-chip-bytes --sm_120a=on-chip-bytes
# verify: :carried K=2 --cuda=on-chip-bytes --hip=on-chip-bytes
# verify: :half_filled K=2 --cuda=on-chip-bytes --hip=on-chip-bytes
import tilelang
import tilelang.language as T

R, C = 128, 256  # 128 KiB of float32: two of them do not fit


@tilelang.jit
def anew(K=3, R=R):
    @T.prim_func
    def main(X: T.Tensor((max(K, 1), R, C), "float32"), Y: T.Tensor((R, C), "float32")):
        with T.Kernel(1, threads=256) as b:
            p = T.alloc_shared((R, C), "float32")
            q = T.alloc_shared((R, C), "float32")
            f = T.alloc_fragment((R, C), "float32")
            T.clear(f)
            for k in T.serial(K):
                T.copy(X[k, 0, 0], p)
                for i, j in T.Parallel(R, C):
                    f[i, j] = f[i, j] * 0.5 + p[R - 1 - i, C - 1 - j]
                for i, j in T.Parallel(R, C):
                    q[i, j] = f[i, j] + k
                for i, j in T.Parallel(R, C):
                    f[i, j] = q[i, C - 1 - j]
            T.copy(f, Y)

    return main


@tilelang.jit
def halves(K=2, R=R):
    """Filled in two parts, and by a nest that does not do all its points."""
    @T.prim_func
    def main(X: T.Tensor((K, R, C), "float32"), Y: T.Tensor((R, C), "float32")):
        with T.Kernel(1, threads=128) as b:
            p = T.alloc_shared((R, C), "float32")
            q = T.alloc_shared((R, C), "float32")
            f = T.alloc_fragment((R, C), "float32")
            T.clear(f)
            for k in T.serial(K):
                T.copy(X[k, 0:R // 2, :], p[0:R // 2, :])
                T.copy(X[k, R // 2:R, :], p[R // 2:R, :])
                for i, j in T.Parallel(R, C):
                    f[i, j] = f[i, j] + p[R - 1 - i, j]
                for i, j in T.Parallel(R + 8, C):
                    if i >= 8:
                        q[i - 8, j] = X[k, i - 8, C - 1 - j]
                for i, j in T.Parallel(R, C):
                    f[i, j] = f[i, j] - q[i, j] * 0.5
            T.copy(f, Y)

    return main


@tilelang.jit
def inner(K=2, R=R):
    """One of them is filled once and read in all turns of an inner loop."""
    @T.prim_func
    def main(X: T.Tensor((K, R, C), "float32"), Y: T.Tensor((K, R), "float32")):
        with T.Kernel(1, threads=128) as b:
            p = T.alloc_shared((R, C), "float32")
            q = T.alloc_shared((R, C), "float32")
            f = T.alloc_fragment((R,), "float32")
            for k in T.serial(K):
                T.clear(f)
                T.copy(X[k, 0, 0], p)
                for n in T.serial(3):
                    for i in T.Parallel(R):
                        f[i] = f[i] + p[R - 1 - i, n]
                for i, j in T.Parallel(R, C):
                    q[i, j] = X[k, i, j] * 2
                for n in T.serial(3):
                    for i in T.Parallel(R):
                        f[i] = f[i] + q[R - 1 - i, 7 * n]
                for i in T.Parallel(R):
                    Y[k, i] = f[i]

    return main


@tilelang.jit
def stored_in_bulk(K=3, R=R):
    @T.prim_func
    def main(X: T.Tensor((K, R, C), "float32"), Y: T.Tensor((K, R, C), "float32"), Z: T.Tensor((K, R, C), "float32")):
        with T.Kernel(1, threads=128) as b:
            p = T.alloc_shared((R, C), "float32")
            q = T.alloc_shared((R, C), "float32")
            for k in T.serial(K):
                for i, j in T.Parallel(R, C):
                    p[i, j] = X[k, i, j] * 2
                T.copy(p, Y[k, 0, 0])
                for i, j in T.Parallel(R, C):
                    q[i, j] = X[k, i, j] + 1
                T.copy(q, Z[k, 0, 0])

    return main


@tilelang.jit
def carried(K=2, R=R):
    @T.prim_func
    def main(X: T.Tensor((K, R, C), "float32"), Y: T.Tensor((R, C), "float32")):
        with T.Kernel(1, threads=128) as b:
            p = T.alloc_shared((R, C), "float32")
            q = T.alloc_shared((R, C), "float32")
            T.clear(q)
            for k in T.serial(K):
                T.copy(X[k, 0, 0], p)
                for i, j in T.Parallel(R, C):
                    q[i, j] = q[i, j] + p[R - 1 - i, j]
            T.copy(q, Y)

    return main


@tilelang.jit
def half_filled(K=2, R=R):
    """The first turn fills one row more than the others."""
    @T.prim_func
    def main(X: T.Tensor((K, R, C), "float32"), Y: T.Tensor((R, C), "float32")):
        with T.Kernel(1, threads=128) as b:
            p = T.alloc_shared((R, C), "float32")
            q = T.alloc_shared((R, C), "float32")
            f = T.alloc_fragment((R, C), "float32")
            T.clear(f)
            for k in T.serial(K):
                for i, j in T.Parallel(R, C):
                    if i < R - 1 or k == 0:
                        p[i, j] = X[k, i, j]
                for i, j in T.Parallel(R, C):
                    f[i, j] = f[i, j] + p[R - 1 - i, j]
                T.copy(X[k, 0, 0], q)
                for i, j in T.Parallel(R, C):
                    f[i, j] = f[i, j] - q[R - 1 - i, j] * 0.5
            T.copy(f, Y)

    return main
