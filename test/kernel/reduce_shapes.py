# Three dimensions, kept dimensions of size 1, to one value, parts of tiles, NaN.
# verify: :three dim=0
# verify: :three dim=1
# verify: :three dim=2
# verify: :three dim=-1
# verify: :three dim=-2 clear=False
# verify: :kept dim=0
# verify: :kept dim=1
# verify: :one N=1
# verify: :one N=100
# verify: :one N=1000
# verify: :part
# verify: :generic op=sum
# verify: :generic op=max
# verify: :nan propagate=True
# verify: :nan propagate=False
# verify: :nan propagate=True dtype=float16
# verify: :local
import tilelang
import tilelang.language as T


@tilelang.jit
def three(A=5, B=6, C=7, dim=1, clear=True):
    out = [A, B, C]
    out.pop(dim)

    @T.prim_func
    def main(X: T.Tensor((A, B, C), "float32"), Y: T.Tensor(tuple(out), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_fragment((A, B, C), "float32")
            y = T.alloc_fragment(tuple(out), "float32")
            T.copy(X, x)
            T.copy(Y, y)
            T.reduce_sum(x, y, dim=dim, clear=clear)
            T.copy(y, Y)

    return main


@tilelang.jit
def kept(M=24, N=40, dim=1):
    shape = (M, 1) if dim == 1 else (1, N)

    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor(shape, "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_fragment((M, N), "float32")
            y = T.alloc_fragment(shape, "float32")
            T.copy(X, x)
            T.reduce_max(x, y, dim=dim)
            T.copy(y, Y)

    return main


@tilelang.jit
def one(N=100):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((1,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_fragment((N,), "float32")
            y = T.alloc_fragment((1,), "float32")
            T.copy(X, x)
            T.reduce_sum(x, y, dim=0)
            T.copy(y, Y)

    return main


@tilelang.jit
def part(M=24, N=40):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((M, N), "float32")
            y = T.alloc_fragment((M,), "float32")
            T.copy(X, x)
            T.reduce_sum(x[0:M, 8:24], y, dim=1)
            T.copy(y, Y)

    return main


@tilelang.jit
def generic(M=24, N=40, op="sum"):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_fragment((M, N), "float32")
            y = T.alloc_fragment((M,), "float32")
            T.copy(X, x)
            T.reduce(x, y, op, 1, True)
            T.copy(y, Y)

    return main


@tilelang.jit
def nan(M=24, N=40, propagate=True, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M,), dtype), Z: T.Tensor((N,), dtype)):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_fragment((M, N), dtype)
            y = T.alloc_fragment((M,), dtype)
            z = T.alloc_fragment((N,), dtype)
            T.copy(X, x)
            for i, j in T.Parallel(M, N):
                x[i, j] = T.if_then_else((i * 7 + j) % 50 == 3, T.sqrt(T.cast(-1, dtype)), x[i, j])
            T.reduce_max(x, y, dim=1, nan_propagate=propagate)
            T.reduce_min(x, z, dim=0, nan_propagate=propagate)
            T.copy(y, Y)
            T.copy(z, Z)

    return main


@tilelang.jit
def local(N=33):
    @T.prim_func
    def main(X: T.Tensor((N, 8), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(N, threads=1) as bx:
            x = T.alloc_local((8,), "float32")
            y = T.alloc_local((1,), "float32")
            for i in T.serial(8):
                x[i] = X[bx, i]
            T.reduce_sum(x, y, dim=0)
            Y[bx] = y[0]

    return main
