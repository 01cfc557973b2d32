# Warp groups and mbarriers: producer and consumer, phases, multi-buffering.
# verify: :pair N=256
# verify: :ring N=8
# verify: :ring N=1
# verify: :groups
import tilelang
import tilelang.language as T


@tilelang.jit
def pair(N=256):
    @T.prim_func
    def main(X: T.Tensor((128,), "float32"), Y: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=N) as bx:
            s = T.alloc_shared((128,), "float32")
            full = T.alloc_barrier(128)
            tx = T.get_thread_binding()
            with T.ws(0):
                s[tx] = X[tx] * 2
                T.barrier_arrive(full[0])
            with T.ws(1):
                T.barrier_wait(full[0], 0)
                Y[tx - 128] = s[127 - (tx - 128)]

    return main


@tilelang.jit
def ring(N=8, depth=2):
    @T.prim_func
    def main(X: T.Tensor((N, 128), "float32"), Y: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=256) as bx:
            s = T.alloc_shared((depth, 128), "float32")
            full = T.alloc_barrier([128] * depth)
            free = T.alloc_barrier([128] * depth)
            acc = T.alloc_local((1,), "float32")
            tx = T.get_thread_binding()
            with T.ws(0):
                for k in T.serial(N):
                    T.mbarrier_wait_parity(free[k % depth], ((k // depth) & 1) ^ 1)
                    s[k % depth, tx] = X[k, tx]
                    T.mbarrier_arrive(full[k % depth])
            with T.ws(1):
                acc[0] = 0
                for k in T.serial(N):
                    T.mbarrier_wait_parity(full[k % depth], (k // depth) & 1)
                    acc[0] = acc[0] * 0.5 + s[k % depth, 127 - (tx - 128)]
                    T.mbarrier_arrive(free[k % depth])
                Y[tx - 128] = acc[0]

    return main


@tilelang.jit
def groups():
    @T.prim_func
    def main(Y: T.Tensor((384,), "int32")):
        with T.Kernel(1, threads=384) as bx:
            tx = T.get_thread_binding()
            with T.ws(0, 2):
                Y[tx] = tx
            with T.ws(1):
                Y[tx] = -tx
                T.sync_threads(1, 128)

    return main
