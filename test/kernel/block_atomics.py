# Atomics on tiles of the block: the same element by many, rows added up, old values, and bits.
# verify: :histogram
# verify: :histogram N=70 B=3
# verify: :columns
# verify: :one
# verify: :halves
# verify: :tickets
# verify: :masks
# verify: :tiles
import tilelang
import tilelang.language as T


@tilelang.jit
def histogram(N=300, B=17):
    @T.prim_func
    def main(X: T.Tensor((N,), "uint8"), H: T.Tensor((B,), "int32")):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((B,), "int32")
            T.clear(s)
            for i in T.Parallel(N):
                T.atomic_add(s[T.cast(X[i], "int32") % B], 1)
            T.copy(s, H)

    return main


# All rows into one; every element of the tile comes M times.
@tilelang.jit
def columns(M=9, N=40):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), S: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((N,), "float32")
            b = T.alloc_shared((N,), "float32")
            T.clear(s)
            T.fill(b, -3.0e38)
            for i, j in T.Parallel(M, N):
                T.atomic_add(s[j], X[i, j])
            for i, j in T.Parallel(M, N):
                T.atomic_max(b[j], X[i, j])
            T.copy(s, S)
            T.copy(b, B)

    return main


@tilelang.jit
def one(N=100):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((2,), "int32")):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((2,), "int32")
            T.clear(s)
            for i in T.Parallel(N):
                T.atomic_add(s[0], X[i])
                T.atomic_min(s[1], X[i])
            T.copy(s, Y)

    return main


# Two neighbours to one element.
@tilelang.jit
def halves(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float16"), Y: T.Tensor((N // 2,), "float32")):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((N // 2,), "float32")
            T.clear(s)
            for i in T.Parallel(N):
                T.atomic_add(s[i // 2], T.cast(X[i], "float32"))
            T.copy(s, Y)

    return main


# Who comes first does not matter: every number is given once.
@tilelang.jit
def tickets(N=50):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((1,), "int32"), Z: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((1,), "int32")
            seen = T.alloc_shared((N,), "int32")
            T.clear(s)
            T.clear(seen)
            for i in T.Parallel(N):
                at = T.atomic_add(s[0], 1, return_prev=True)
                T.atomic_add(seen[at], X[i] - X[i] + 1)
            T.copy(s, Y)
            T.copy(seen, Z)

    return main


@tilelang.jit
def masks(N=60):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((2,), "int32")):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((2,), "int32")
            T.clear(s)
            for i in T.Parallel(N):
                T.atomic_or(s[i % 2], X[i] & 255)
            T.copy(s, Y)

    return main


# A tile onto another one.
@tilelang.jit
def tiles(M=8, N=24):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64):
            x = T.alloc_shared((M, N), "float32")
            s = T.alloc_shared((M, N), "float32")
            T.copy(X, x)
            T.copy(X, s)
            T.atomic_add(s, x)
            T.copy(s, Y)

    return main
