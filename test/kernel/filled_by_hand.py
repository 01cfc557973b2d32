# A group of threads fills tiles by its own copies; the others wait for them at barriers in memory.
# verify: :by_hand
# verify: :by_hand N=320
# verify: :scope
# verify: :scope N=320
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def by_hand(N=128, D=64):
    @T.prim_func
    def main(K: T.Tensor((N, D), "float16"), O: T.Tensor((N, D), "float16")):
        with T.Kernel(1, threads=256) as bx:
            s = T.alloc_shared((2, 64, D), "float16")
            ready = T.alloc_barrier([128] * 2)
            free = T.alloc_barrier([128] * 2)
            tx = T.get_thread_binding()
            if tx < 128:
                for k in T.serial(N // 64):
                    T.barrier_wait(ready[k % 2], k // 2 % 2)
                    for i, j in T.Parallel(64, D):
                        O[k * 64 + i, j] = s[k % 2, i, j] * 2
                    T.barrier_arrive(free[k % 2])
            else:
                for k in T.serial(N // 64):
                    T.barrier_wait(free[k % 2], (k // 2 % 2) ^ 1)
                    for r in T.serial(4):
                        T.ptx_cp_async(
                            T.access_ptr(s[k % 2, r * 16 + (tx - 128) // 8, (tx - 128) % 8 * 8], "w", 8),
                            T.access_ptr(K[k * 64 + r * 16 + (tx - 128) // 8, (tx - 128) % 8 * 8], "r", 8), 8)
                    T.cp_async_barrier_noinc(ready[k % 2])

    return main


@tilelang.jit(out_idx=[-1])
def scope(N=128, D=64):  # stores of a scope are the copies
    @T.prim_func
    def main(K: T.Tensor((N, D), "float16"), O: T.Tensor((N, D), "float16")):
        with T.Kernel(1, threads=256) as bx:
            s = T.alloc_shared((2, 64, D), "float16")
            ready = T.alloc_barrier([128] * 2)
            free = T.alloc_barrier([128] * 2)
            tx = T.get_thread_binding()
            if tx < 128:
                for k in T.serial(N // 64):
                    T.barrier_wait(ready[k % 2], k // 2 % 2)
                    for i, j in T.Parallel(64, D):
                        O[k * 64 + i, j] = s[k % 2, i, j] * 2
                    T.barrier_arrive(free[k % 2])
            else:
                for k in T.serial(N // 64):
                    T.barrier_wait(free[k % 2], (k // 2 % 2) ^ 1)
                    for r in T.serial(4):
                        row = r * 16 + (tx - 128) // 8
                        with T.attr("default", "async_scope", 1):
                            for v in T.vectorized(8):
                                s[k % 2, row, (tx - 128) % 8 * 8 + v] = K[k * 64 + row, (tx - 128) % 8 * 8 + v]
                    T.cp_async_barrier_noinc(ready[k % 2])

    return main
