# Random numbers are the same for the same seed, stream and position, on every target.
# verify: :words
# verify: :floats
# verify: :far
# verify: :alone
# verify: :alone n=48
# verify: :several
# verify: :several n=32
# verify: :together
# verify: :others
# verify: :others seed=0
# verify: :others generator=curandStateMRG32k3a_t
# verify: :others generator=curandStateMRG32k3a_t seed=0
import tilelang
import tilelang.language as T


@tilelang.jit
def words(n=64, each=6):
    @T.prim_func
    def main(A: T.Tensor((2 * n, each), "uint32")):
        with T.Kernel(2, threads=n) as bx:
            t = T.get_thread_binding()
            T.rng_init(1234)
            for i in T.serial(each):
                A[bx * n + t, i] = T.rng_rand()

    return main


@tilelang.jit
def floats(n=32, each=4):
    @T.prim_func
    def main(U: T.Tensor((n, each), "float32"), N: T.Tensor((n, each), "float32"), D: T.Tensor((n, each), "float64")):
        with T.Kernel(1, threads=n) as bx:
            t = T.get_thread_binding()
            T.rng_init(7, t * 3, 5)
            for i in T.serial(each):
                U[t, i] = T.rng_rand_float()
                N[t, i] = T.rng_rand_float(dist="normal")
                D[t, i] = T.rng_rand_float(bit=64)

    return main


# Seeds, streams and positions have 64 bits.
@tilelang.jit
def far(n=32, each=4):
    @T.prim_func
    def main(A: T.Tensor((n, each), "uint32"), U: T.Tensor((n, each), "float64")):
        with T.Kernel(1, threads=n) as bx:
            t = T.get_thread_binding()
            T.rng_init(0x123456789AB, T.cast(t, "int64") * 0x5_0000_0007, 0x7_FFFF_FFFD)
            for i in T.serial(each):
                A[t, i] = T.rng_rand()
                U[t, i] = T.cast(T.rng_rand_float(), "float64")  # float32 as it was drawn

    return main


# The numbers of a parallel loop are some thread's: they lie in their range, whatever they are.
@tilelang.jit
def together(n=40):
    @T.prim_func
    def main(A: T.Tensor((2, n), "int32")):
        with T.Kernel(2, threads=32) as bx:
            T.rng_init(42, bx, 8)
            for j in T.Parallel(n):
                x = T.rng_rand_float()
                A[bx, j] = T.if_then_else(T.And(x >= 0.0, x <= 1.0), 1, 0)

    return main


# One thread of a block of one draws in the order of the loop.
@tilelang.jit
def alone(n=37):
    @T.prim_func
    def main(A: T.Tensor((3, n), "uint32")):
        with T.Kernel(3, threads=1) as bx:
            t = T.get_thread_binding()
            T.rng_init(42, 0, bx * n + t)
            for i, j in T.Parallel(1, n):
                if i + j < n - 1:
                    A[bx, i + j] = T.rng_rand()
                else:
                    A[bx, i + j] = 0

    return main


# Two to an iteration, with a bound or without: wide stores draw in the same order.
@tilelang.jit
def several(n=44, rows=3):
    @T.prim_func
    def main(A: T.Tensor((rows * n,), "uint32"), B: T.Tensor((rows * n,), "float32")):
        with T.Kernel(T.ceildiv(rows * n, 32), threads=1) as bx:
            T.rng_init(3, bx, 2)
            for j in T.Parallel(32):
                if bx * 32 + j < rows * n:
                    A[bx * 32 + j] = T.rng_rand()
                    B[bx * 32 + j] = T.rng_rand_float()

    return main


# Other generators: streams far apart, and places in them.
@tilelang.jit
def others(generator="curandStateXORWOW_t", n=4, each=3, seed=12345678901):
    @T.prim_func
    def main(A: T.Tensor((2 * n, each), "uint32"), U: T.Tensor((2 * n, each), "float32"),
             D: T.Tensor((2 * n, each), "float64")):
        with T.Kernel(2, threads=n) as bx:
            t = T.get_thread_binding()
            T.rng_init(seed, (bx * n + t) * 7, t * 1000 + bx, generator=generator)
            for i in T.serial(each):
                A[bx * n + t, i] = T.rng_rand()
                U[bx * n + t, i] = T.rng_rand_float(dist="normal")
                D[bx * n + t, i] = T.rng_rand_float(bit=64)

    return main
