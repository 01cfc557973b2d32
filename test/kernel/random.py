# Random numbers of each thread: the same in every run.
# verify: :bits N=64
# verify: :floats N=64
import tilelang
import tilelang.language as T


@tilelang.jit
def bits(N=64):
    @T.prim_func
    def main(Y: T.Tensor((2, N), "uint32")):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            T.rng_init(42, tx, 0)
            Y[0, tx] = T.rng_rand()
            Y[1, tx] = T.rng_rand()

    return main


@tilelang.jit
def floats(N=64):
    @T.prim_func
    def main(Y: T.Tensor((3, N), "float32")):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            T.rng_init(7, seq=tx, off=3)
            Y[0, tx] = T.rng_rand_float()
            Y[1, tx] = T.rng_rand_float(dist="normal")
            Y[2, tx] = T.rng_rand_float()

    return main
