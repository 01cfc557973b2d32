# Shapes known only when called: solved from tensors, ragged, empty, in expressions.
# verify: :rows n=1
# verify: :rows n=31
# verify: :rows n=32
# verify: :rows n=33
# verify: :rows n=0
# verify: :product m=1 n=1 k=1
# verify: :product m=33 n=65 k=40
# verify: :product m=64 n=64 k=64
# verify: :multiples n=7
# verify: :wide n=100
# verify: :eager n=100 m=24
# verify: :tiles n=24 m=40
# verify: :scalar_arguments n=9 a=3 b=2.5
import tilelang
import tilelang.language as T


@tilelang.jit
def rows(b=32):
    n = T.dynamic("n")

    @T.prim_func
    def main(X: T.Tensor((n, 8), "float32"), Y: T.Tensor((n, 8), "float32")):
        with T.Kernel(T.ceildiv(n, b), threads=32) as bx:
            s = T.alloc_shared((b, 8), "float32")
            T.copy(X[bx * b, 0], s)
            for i, j in T.Parallel(b, 8):
                s[i, j] = s[i, j] + i
            T.copy(s, Y[bx * b, 0])

    return main


@tilelang.jit
def product(b=32):
    m, n, k = T.dynamic("m, n, k")

    @T.prim_func
    def main(A: T.Tensor((m, k), "float32"), B: T.Tensor((k, n), "float32"), C: T.Tensor((m, n), "float32")):
        with T.Kernel(T.ceildiv(n, b), T.ceildiv(m, b), threads=64) as (bx, by):
            a = T.alloc_shared((b, b), "float32")
            s = T.alloc_shared((b, b), "float32")
            c = T.alloc_fragment((b, b), "float32")
            T.clear(c)
            for q in T.Pipelined(T.ceildiv(k, b), num_stages=2):
                T.copy(A[by * b, q * b], a)
                T.copy(B[q * b, bx * b], s)
                T.gemm(a, s, c)
            T.copy(c, C[by * b, bx * b])

    return main


@tilelang.jit
def multiples():
    n = T.dynamic("n")

    @T.prim_func
    def main(X: T.Tensor((n * 2, n + 3), "float32"), Y: T.Tensor((n,), "float32")):
        with T.Kernel(n, threads=1) as bx:
            acc = T.alloc_var("float32")
            for j in T.serial(n + 3):
                acc += X[bx * 2 + 1, j]
            Y[bx] = acc

    return main


@tilelang.jit
def wide():
    n = T.dynamic("n", "int64")

    @T.prim_func
    def main(X: T.Tensor((n,), "float32"), Y: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
            for i in T.Parallel(64):
                at = T.cast(bx, "int64") * 64 + i
                if at < n:
                    Y[at] = X[at] + 1

    return main


@tilelang.jit
def eager(b=32):
    n, m = T.dynamic("n"), T.dynamic("m")

    @T.prim_func
    def main(X: T.Tensor((n, m), "float32"), Y: T.Tensor((m,), "float32")):
        with T.Kernel(m, threads=32) as bx:
            acc = T.alloc_fragment((b,), "float32")
            out = T.alloc_fragment((1,), "float32")
            T.clear(acc)
            for q in T.serial(T.ceildiv(n, b)):
                for i in T.Parallel(b):
                    if q * b + i < n:
                        acc[i] += X[q * b + i, bx]
            T.reduce_sum(acc, out, dim=0)
            Y[bx] = out[0]

    return main


@tilelang.jit
def tiles():
    """A loop over a run-time extent inside T.Parallel."""
    n, m = T.dynamic("n"), T.dynamic("m")

    @T.prim_func
    def main(X: T.Tensor((n, m), "float32"), Y: T.Tensor((n, m), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for i, j in T.Parallel(n, m):
                Y[i, j] = X[i, j] * 2

    return main


@tilelang.jit
def scalar_arguments():
    n = T.dynamic("n")

    @T.prim_func
    def main(a: T.int32, b: T.float32, X: T.Tensor((n,), "float32"), Y: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 8), threads=8) as bx:
            for i in T.Parallel(8):
                if bx * 8 + i < n:
                    Y[bx * 8 + i] = X[bx * 8 + i] * b + a

    return main
