# Loops that are left, or go on, on the way: what is open there is open behind them, or at the next iteration.
# verify: :leaves
# verify: :goes_on
# verify: :looks_again
# verify: :stores_behind
# verify: :stores_next
# verify: :multiplies_behind
# verify: :multiplies_next
import tilelang
import tilelang.language as T


@tilelang.jit
def leaves():
    """The tile that is read next was written just before the inner loop was left."""

    @T.prim_func
    def main(A: T.Tensor((7,), "int32"), R: T.Tensor((33,), "int32")):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((7,), "int32")
            t = T.alloc_shared((33,), "int32")
            T.copy(A, s)
            T.fill(t, 1)
            for k in T.serial(3):
                for i in T.Parallel(33):
                    t[i] = t[i] * 3 + s[(i + 5) % 7]
                for q in T.serial(2):
                    for i in T.Parallel(7):
                        s[i] = A[6 - i] + k
                    if q == bx:
                        break
                    for i in T.Parallel(33):
                        t[i] = s[(i * 3) % 7]
            T.copy(t, R)

    return main


@tilelang.jit
def goes_on(n=4):
    @T.prim_func
    def main(A: T.Tensor((7,), "int32"), M: T.Tensor((n,), "int32"), R: T.Tensor((33,), "int32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((7,), "int32")
            t = T.alloc_shared((33,), "int32")
            T.copy(A, s)
            T.fill(t, 1)
            for k in T.serial(n):
                for i in T.Parallel(33):
                    t[i] = t[i] * 3 + s[(i + 5) % 7]
                for i in T.Parallel(7):
                    s[i] = A[6 - i] + k
                if M[k] > -100:
                    continue
                for i in T.Parallel(33):
                    t[i] = s[(i * 3) % 7]
                T.sync_threads()
            T.copy(t, R)

    return main


@tilelang.jit
def looks_again(n=70):
    """The condition reads what was written just before; some iterations end early."""

    @T.prim_func
    def main(M: T.Tensor((n,), "int32"), R: T.Tensor((33,), "int32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((7,), "int32")
            t = T.alloc_shared((33,), "int32")
            T.fill(s, 0)
            T.fill(t, 1)
            k = T.alloc_var("int32", init=0)
            while s[3] < 100:
                k += 1
                for i in T.Parallel(33):
                    t[i] = t[i] * 3 + s[(i + 5) % 7] + k
                for i in T.Parallel(7):
                    s[i] = s[i] + 17 + i
                if M[k] > -1:
                    continue
                for i in T.Parallel(33):
                    t[i] = s[(i * 3) % 7] - t[i]
            T.copy(t, R)

    return main


@tilelang.jit
def stores_behind(n=8):
    """On Hopper the tile is stored in bulk: what threads wrote before they left needs a fence."""

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16"), M: T.Tensor((n,), "int32"), O: T.Tensor((n + 1, 64, 64), "float16")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            T.copy(A, a)
            for k in T.serial(n):
                for i, j in T.Parallel(64, 64):
                    a[i, j] += 1
                if M[k] > 0:
                    break
                T.copy(a, O[k, 0, 0])
            T.copy(a, O[n, 0, 0])

    return main


@tilelang.jit
def stores_next(n=8):
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16"), M: T.Tensor((n,), "int32"), O: T.Tensor((n + 1, 64, 64), "float16")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            T.copy(A, a)
            for k in T.serial(n):
                T.copy(a, O[k, 0, 0])
                for i, j in T.Parallel(64, 64):
                    a[i, j] += 1
                if M[k] > 0:
                    continue
                T.copy(a, O[k, 0, 0])
            T.copy(a, O[n, 0, 0])

    return main


@tilelang.jit
def multiplies_behind(n=4):
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16"), M: T.Tensor((n,), "int32"), O: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.copy(A, b)
            T.clear(c)
            for k in T.serial(n):
                for i, j in T.Parallel(64, 64):
                    a[i, j] = a[i, j] * 0.5 + 1
                if M[k] > 0:
                    break
                T.gemm(a, b, c)
            T.gemm(a, b, c)
            T.copy(c, O)

    return main


@tilelang.jit
def multiplies_next(n=4):
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16"), M: T.Tensor((n,), "int32"), O: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.copy(A, b)
            T.clear(c)
            for k in T.serial(n):
                T.gemm(a, b, c)
                for i, j in T.Parallel(64, 64):
                    a[i, j] = a[i, j] * 0.5 + 1
                if M[k] > 0:
                    continue
                T.gemm(a, b, c)
            T.copy(c, O)

    return main
