# Atomics of one element and of a tile, from many blocks at once.
# verify: :element N=1000
# verify: :element N=1000 dtype=float32
# verify: :tile M=40 N=24
# verify: :tile M=33 N=47 dtype=float16
# verify: :tile M=33 N=47 dtype=int32
# verify: :extrema N=500
# verify: :extrema N=500 dtype=int32
# verify: :previous N=64
# verify: :pairs N=64
# verify: :quads N=64
# verify: :bits N=200
# verify: :load_store
# verify: :in_shared N=300
# verify: :in_a_nest
# verify: :in_a_nest dtype=int32
# verify: :of_block --warns=per-thread-effect
# verify: :of_block threads=32 dtype=float32 --warns=per-thread-effect
# verify: :of_block threads=1
import tilelang
import tilelang.language as T


@tilelang.jit
def element(N=1000, bins=7, dtype="int32"):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), H: T.Tensor((bins,), dtype)):
        with T.Kernel(T.ceildiv(N, 64), threads=64) as bx:
            for i in T.Parallel(64):
                if bx * 64 + i < N:
                    T.atomic_add(H[(X[bx * 64 + i] + 4) % bins], 1)

    return main


@tilelang.jit
def tile(M=40, N=24, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((4, M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, 16), T.ceildiv(M, 16), 4, threads=64) as (bx, by, bz):
            s = T.alloc_shared((16, 16), dtype)
            T.copy(X[bz, by * 16 : by * 16 + 16, bx * 16 : bx * 16 + 16], s)
            T.atomic_add(Y[by * 16, bx * 16], s)

    return main


@tilelang.jit
def extrema(N=500, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((2,), dtype), Z: T.Tensor((2, 10), dtype)):
        with T.Kernel(T.ceildiv(N, 50), threads=64) as bx:
            f = T.alloc_fragment((10,), dtype)
            for i in T.Parallel(50):
                T.atomic_max(Y[0], X[bx * 50 + i])
                T.atomic_min(Y[1], X[bx * 50 + i])
            T.copy(X[bx * 50], f)
            T.atomic_max(Z[0, 0], f)
            T.atomic_min(Z[1, 0], f)

    return main


@tilelang.jit
def previous(N=64):
    """Each turn takes a ticket; one block, so the order is known."""

    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), C: T.Tensor((1,), "int32"), Y: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=1) as bx:
            for i in T.serial(N):
                if X[i] > 0:
                    old = T.atomic_add(C[0], 1, return_prev=True)
                    Y[i] = old
                else:
                    top = T.atomic_max(C[0], X[i], return_prev=True)
                    Y[i] = top + 1000

    return main


@tilelang.jit
def pairs(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(2, threads=32) as bx:
            for i in T.Parallel(N // 2):
                T.atomic_addx2(Y[i * 2], X[i * 2])

    return main


@tilelang.jit
def quads(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(2, threads=32) as bx:
            for i in T.Parallel(N // 4):
                T.atomic_addx4(Y[i * 4], X[i * 4])

    return main


@tilelang.jit
def bits(N=200):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((1,), "int32")):
        with T.Kernel(4, threads=64) as bx:
            for i in T.Parallel(50):
                T.atomic_or(Y[0], X[bx * 50 + i], memory_order="relaxed")

    return main


@tilelang.jit
def load_store():
    @T.prim_func
    def main(X: T.Tensor((8,), "int32"), Y: T.Tensor((8,), "int32")):
        with T.Kernel(8, threads=1) as bx:
            v = T.atomic_load(X[bx], memory_order="acquire")
            T.atomic_store(Y[bx], v + 1, memory_order="release")

    return main


@tilelang.jit
def in_shared(N=300, bins=10):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((3, bins), "int32")):
        with T.Kernel(3, threads=64) as bx:
            h = T.alloc_shared((bins,), "int32")
            T.clear(h)
            for i in T.Parallel(100):
                T.atomic_add(h[(X[bx * 100 + i] + 4) % bins], 1)
            T.copy(h, Y[bx, 0])

    return main


# What was there before, in a nest; and what was loaded, stored.
@tilelang.jit
def in_a_nest(M=40, N=24, b=9, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype), C: T.Tensor((M, N), dtype),
             D: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, b), T.ceildiv(N, b), threads=32) as (bx, by):
            for i, j in T.Parallel(b, b):
                x = bx * b + i
                y = by * b + j
                if x < M and y < N:
                    C[x, y] = T.atomic_add(B[x, y], A[x, y], return_prev=True)
                    v = T.atomic_load(A[x, y])
                    T.atomic_store(D[x, y], v)

    return main


@tilelang.jit
def of_block(threads=128, dtype="int32"):
    """Stores of the block happen once, its atomics once per thread."""

    @T.prim_func
    def main(X: T.Tensor((16,), dtype), C: T.Tensor((16,), dtype)):
        with T.Kernel(2, threads=threads) as bx:
            s = T.alloc_shared((4,), dtype)
            C[bx] += 1
            for i in T.serial(3):
                C[2 + bx] += X[i]
            T.atomic_add(C[4 + bx], 1)
            for i in T.serial(3):
                if i != 1:
                    T.atomic_add(C[6 + bx], X[i])
            T.atomic_max(C[8 + bx], X[bx])
            for i in T.Parallel(1):
                T.atomic_add(C[10 + bx], 1)
            for i in T.Parallel(8):
                T.atomic_add(C[12 + bx], 1)
            T.clear(s)
            T.atomic_add(s[0], 2)
            C[14 + bx] = s[0]

    return main
