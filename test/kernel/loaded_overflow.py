# Data may hold any number: sums and products of it wrap, in conditions and indices as elsewhere.
# The compiler is told to stop the program where a signed number overflows.
# verify: :condition
# verify: :named
# verify: :index
# verify: :sums
import tilelang
import tilelang.language as T

TRAP = ["-fsanitize=signed-integer-overflow", "-fsanitize-undefined-trap-on-error"]


@tilelang.jit
def condition(N=100):
    @T.prim_func
    def main(I: T.Tensor((N,), "int32"), X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        T.annotate_compile_flags(TRAP)
        with T.Kernel(1, threads=32) as _:
            for i in T.serial(N):
                if I[i] * 1000003 * 1000003 + 77 > I[i] * 2000000011 - 5:
                    Y[i] = X[i]
                else:
                    Y[i] = -X[i]

    return main


@tilelang.jit
def named(N=100):
    @T.prim_func
    def main(I: T.Tensor((N,), "int32"), X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        T.annotate_compile_flags(TRAP)
        with T.Kernel(1, threads=32) as _:
            for i in T.serial(N):
                r = I[i] * 1000003
                if r * r + r > 5 or r * r - i < -3:
                    Y[i] = X[i]
                else:
                    Y[i] = -X[i]

    return main


@tilelang.jit
def index(N=100):
    """An index so wild is never used: the condition keeps it out."""
    @T.prim_func
    def main(I: T.Tensor((N,), "int32"), X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        T.annotate_compile_flags(TRAP)
        with T.Kernel(1, threads=32) as _:
            for i in T.serial(N):
                r = I[i] * 1000003 + 2000000011
                if r * 64 >= 0 and r * 64 < N:
                    Y[i] = X[r * 64]
                else:
                    Y[i] = 1.0

    return main


@tilelang.jit
def sums(N=64):
    """Names of what was loaded, near both ends of their type: nothing cancels that may have wrapped."""
    @T.prim_func
    def main(I: T.Tensor((N,), "int32"), Y: T.Tensor((N, 8), "int32")):
        T.annotate_compile_flags(TRAP)
        with T.Kernel(1, threads=32) as _:
            for i in T.serial(N):
                v = I[i]
                big = 2147483647 - (v & 1)
                sum = big + (v & 3)
                Y[i, 0] = T.if_then_else(big + 1 > big, 1, 0)
                Y[i, 1] = T.if_then_else(sum >= big, 1, 0)
                Y[i, 2] = T.if_then_else(v * 65536 // 65536 == v, 1, 0)
                Y[i, 3] = big * 2 // 2
                Y[i, 4] = T.if_then_else(sum + 2147483647 > 5 and sum > 0, 1, 0)
                Y[i, 5] = (big * 100001 + 4) % 4
                Y[i, 6] = T.if_then_else(v * 2 < big * 2, 1, 0)
                Y[i, 7] = T.min(big + 2000000000, big)

    return main
