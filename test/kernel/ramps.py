# T.Ramp names several elements at once, in loads, stores and atomics.
# verify: :shifted
# verify: :strided
# verify: :atomic_pair
# verify: :back
import tilelang
import tilelang.language as T


@tilelang.jit
def shifted(n=64):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((8, 4), "float32")):
        with T.Kernel(1, threads=1) as bx:
            for t in T.serial(8):
                B[t, T.Ramp(0, 1, 4)] = A[T.Ramp(t * 5, 1, 4)]

    return main


@tilelang.jit
def strided(n=32):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.serial(n // 8):
                B[T.Ramp(i * 8, 2, 4)] = A[T.Ramp(i * 8 + 1, 2, 4)] * 2.0
                B[T.Ramp(i * 8 + 1, 2, 4)] = 3.0

    return main


@tilelang.jit
def atomic_pair():
    @T.prim_func
    def main(D: T.Tensor((4,), "float32"), V: T.Tensor((4,), "float32"), P: T.Tensor((2,), "float32")):
        with T.Kernel(1, threads=1) as bx:
            P[0:2] = T.atomic_addx2(D[T.Ramp(0, 1, 2)], V[T.Ramp(1, 1, 2)], return_prev=True)

    return main


@tilelang.jit
def back(N=64):
    """Lanes before the start count from the end, found out at run time."""

    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((4, 4), "float32"),
             Z: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=1) as bx:
            for i in T.serial(N):
                Z[i] = 0
            for t in T.serial(4):
                Y[t, T.Ramp(0, 1, 4)] = X[T.Ramp(t - 2, 1, 4)]
                Z[T.Ramp(t - 3, 1, 4)] = Y[t, T.Ramp(0, 1, 4)]

    return main
