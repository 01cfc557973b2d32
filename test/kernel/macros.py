# T.macro: inlined, by value and by reference, nested, returning values; meta classes.
# verify: :plain N=40
# verify: :refs N=40
# verify: :returns N=40
# verify: :helpers N=40
import tilelang
import tilelang.language as T


@T.macro
def scale(S: T.FragmentBuffer((16,), "float32"), by):
    for i in T.Parallel(16):
        S[i] = S[i] * by


@T.macro
def load(X, S, at):
    T.copy(X[at], S)
    scale(S, at + 1)


@tilelang.jit
def plain(N=40):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 16), threads=32) as bx:
            f = T.alloc_fragment((16,), "float32")
            load(X, f, bx * 16)
            scale(f, 0.5)
            T.copy(f, Y[bx * 16])

    return main


@T.macro
def bump(v: T.Ref, by):
    v += by


@T.macro
def swap(a: T.Ref, b: T.Ref):
    t = T.alloc_var("float32")
    t = a
    a = b
    b = t


@tilelang.jit
def refs(N=40):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(N // 2, threads=1) as bx:
            v = T.alloc_var("float32")
            v = X[bx]
            bump(v, 2.0)
            bump(Y[bx], v)
            Y[N - 1 - bx] = X[bx] + X[N - 1 - bx]
            swap(Y[bx], Y[N - 1 - bx])

    return main


@T.macro
def square_sum(a, b):
    c = a * a
    return c + b * b


@tilelang.jit
def returns(N=40):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                Y[i] = square_sum(X[i], square_sum(X[N - 1 - i], 1.0))

    return main


def poly(x, coefficients):
    acc = coefficients[0]
    for c in coefficients[1:]:
        acc = acc * x + c
    return acc


@tilelang.jit
def helpers(N=40):
    """Plain Python functions, comprehensions and closures at trace time."""
    weights = [1.0 / (i + 1) for i in range(4)]
    table = {"a": 2, "b": 3}
    twice = lambda x: x * table["a"]

    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((2, N), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                Y[0, i] = poly(X[i], weights)
                Y[1, i] = twice(X[i]) + len(weights) + sum(weights[:2])

    return main
