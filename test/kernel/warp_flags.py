# Half of the block fetches rows by index; who has a row says in shared memory whether it is there.  Those flags
# are written and read by threads of one warp, which wait for each other alone.
# verify: :rows
# verify: :rows last=100
# verify: :crossed
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def rows(n=256, last=500):
    @T.prim_func
    def main(K: T.Tensor((512, 64), "float16"), O: T.Tensor((n, 64), "float16")):
        with T.Kernel(1, threads=256):
            s = T.alloc_shared((2, 64, 64), "float16")
            there = T.alloc_shared((2, 64), "bool")
            full = T.alloc_barrier(arrive_count=[128] * 2)
            free = T.alloc_barrier(arrive_count=[128] * 2)
            row = T.alloc_var("int32")
            tx = T.get_thread_binding()
            if tx >= 128:
                for k in T.serial(n // 64):
                    T.barrier_wait(free[k % 2], (k // 2 + 1) % 2)
                    for r in T.serial(4):
                        row = (k * 64 + r * 16 + (tx - 128) // 8) * 37 % 512
                        there[k % 2, r * 16 + (tx - 128) // 8] = row < last
                        if there[k % 2, r * 16 + (tx - 128) // 8]:
                            T.ptx_cp_async(T.access_ptr(s[k % 2, r * 16 + (tx - 128) // 8, tx % 8 * 8], "w", 8),
                                           T.access_ptr(K[row, tx % 8 * 8], "r", 8), 8)
                    T.cp_async_barrier_noinc(full[k % 2])
            else:
                for k in T.serial(n // 64):
                    T.barrier_wait(full[k % 2], k // 2 % 2)
                    for i in T.serial(32):
                        O[k * 64 + i * 2 + tx // 64, tx % 64] = T.if_then_else(
                            there[k % 2, i * 2 + tx // 64], s[k % 2, i * 2 + tx // 64, tx % 64], T.float16(0))
                    T.barrier_arrive(free[k % 2])

    return main


# Neighbours in a warp change places, then those of two warps: there the group waits.
@tilelang.jit(out_idx=[-1])
def crossed(n=128):
    @T.prim_func
    def main(A: T.Tensor((n,), "int32"), O: T.Tensor((2, n), "int32")):
        with T.Kernel(1, threads=2 * n):
            s = T.alloc_shared((n,), "int32")
            u = T.alloc_shared((n,), "int32")
            tx = T.get_thread_binding()
            if tx >= n:
                s[tx - n] = A[tx - n]
                T.sync_warp()
                O[0, tx - n] = s[(tx - n) // 2 * 2 + 1 - (tx - n) % 2]
                u[tx - n] = s[(tx - n) // 4 * 4 + 3 - (tx - n) % 4]
                T.sync_threads(1, n)
                O[1, tx - n] = u[n - 1 - (tx - n)]

    return main
