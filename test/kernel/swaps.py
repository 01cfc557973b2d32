# A name keeps the value that was loaded, whatever is stored over its place afterwards.
# verify: :swap
# verify: :swap dtype=bfloat16
# verify: :rotate
# verify: :held
# verify: :added
import tilelang
import tilelang.language as T


@tilelang.jit
def swap(N=512, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((N,), dtype), Z: T.Tensor((N,), dtype)):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                value = X[i]
                X[i] = Y[i]
                Y[i] = value
                Z[i] = value + value

    return main


@tilelang.jit
def rotate(N=512):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((N,), "int32"), Z: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                x = X[i]
                y = Y[i]
                sum = x + y
                X[i] = Z[i]
                Y[i] = x
                Z[i] = y * 2 + sum

    return main


# The place is in registers.
@tilelang.jit
def held(N=512):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            x = T.alloc_fragment((N,), "float32")
            y = T.alloc_fragment((N,), "float32")
            T.copy(X, x)
            T.copy(Y, y)
            for i in T.Parallel(N):
                value = x[i] * 2
                x[i] = y[i]
                y[i] = value
            T.copy(x, X)
            T.copy(y, Y)

    return main


# The place is written by an atomic addition.
@tilelang.jit
def added(N=512):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(N):
                value = X[i]
                T.atomic_add(X[i], Y[i])
                Y[i] = value

    return main
