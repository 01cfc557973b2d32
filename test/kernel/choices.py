# if, elif, else, the ternary, T.Select, and/or, chained comparisons; the side not taken is not read.
# verify: :branches N=100
# verify: :branches N=7
# verify: :guarded N=100
# verify: :static flag=True
# verify: :static flag=False
# verify: :frames N=40
# verify: :doubling N=40
import tilelang
import tilelang.language as T


@tilelang.jit
def branches(N=100):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((6, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                if X[i] > 1:
                    Y[0, i] = 1
                elif X[i] > 0:
                    Y[0, i] = 2
                elif X[i] > -1 and i % 2 == 0:
                    Y[0, i] = 3
                else:
                    Y[0, i] = 4
                Y[1, i] = X[i] if X[i] > 0 else -X[i]
                Y[2, i] = T.Select(X[i] > 0, X[i], 5.0)
                Y[3, i] = T.if_then_else(-1 < X[i] <= 0.5, 1.0, 0.0)
                Y[4, i] = T.if_then_else(X[i] > 1 or X[i] < -1, 1.0, 0.0)
                Y[5, i] = T.if_then_else(not X[i] > 0, 1.0, 0.0)

    return main


@tilelang.jit
def guarded(N=100):
    """An index that is out of range on the side not taken."""

    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N, 3), "float32")):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((N,), "float32")
            T.copy(X, s)
            for i in T.Parallel(N):
                Y[i, 0] = T.if_then_else(i + 5 < N, s[i + 5], 0.0)
                Y[i, 1] = s[i - 3] if i >= 3 else 7.0
                Y[i, 2] = T.if_then_else(i > 0 and s[i - 1] > 0, 1.0, 0.0)

    return main


@tilelang.jit
def static(N=10, flag=True):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            if flag:
                scale = 2.0
            else:
                scale = 3.0
            for i in T.Parallel(N):
                Y[i] = X[i] * scale
                if not flag and N > 5:
                    Y[i] = Y[i] + 1

    return main


@tilelang.jit
def frames(N=40):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.serial(N):
                with T.If(X[i] > 0):
                    with T.Then():
                        Y[i] = 1.0
                    with T.Else():
                        Y[i] = 2.0

    return main


@tilelang.jit
def doubling(N=40):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.serial(N):
                Y[i] = T.abs(X[i]) + 0.5
                with T.While(Y[i] < 100):
                    Y[i] = Y[i] * 2

    return main
