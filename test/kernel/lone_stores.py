# An element of a fragment set outside of any loop is set once for the block, also where the kernel has
# threads of its own; a value that differs between threads stays with each.
# verify: :running_total
# verify: :online
# verify: :counted
# verify: :renewed
# verify: :renewed threads=128
import tilelang
import tilelang.language as T


@tilelang.jit
def running_total(N=128, rounds=4):
    @T.prim_func
    def main(A: T.Tensor((rounds, N), "float32"), B: T.Tensor((2,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_fragment((1, N), "float32")
            part = T.alloc_fragment((1,), "float32")
            total = T.alloc_fragment((2,), "float32")
            total[0] = 1.0
            total[1] = 0.0
            for k in T.serial(rounds):
                T.copy(A[k, 0], a)
                T.reduce_sum(a, part, dim=1)
                total[0] = total[0] * 0.5 + part[0]
                total[1] += 1.0
            if T.get_thread_binding() == 0:
                B[0] = total[0]
                B[1] = total[1]

    return main


@tilelang.jit
def online(K=256, b=64):
    @T.prim_func
    def main(A: T.Tensor((K,), "float32"), B: T.Tensor((1,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_fragment((b,), "float32")
            high = T.alloc_fragment((1,), "float32")
            total = T.alloc_fragment((1,), "float32")
            high[0] = -T.infinity("float32")
            total[0] = 0.0
            for k in T.serial(K // b):
                T.copy(A[k * b], a)
                top = T.alloc_reducer((1,), "float32", op="max")
                T.reducer_init(top, high[0])
                for i in T.Parallel(b):
                    T.reducer_update(top[0], a[i])
                new = T.alloc_fragment((1,), "float32")
                T.finalize_reducer(top, new)
                s = T.alloc_reducer((1,), "float32", op="sum")
                T.reducer_init(s)
                for i in T.Parallel(b):
                    T.reducer_update(s[0], T.exp(a[i] - new[0]))
                add = T.alloc_fragment((1,), "float32")
                T.finalize_reducer(s, add)
                total[0] = T.exp(high[0] - new[0]) * total[0] + add[0]
                high[0] = new[0]
            if T.get_thread_binding() == 0:
                B[0] = T.log(total[0]) + high[0]

    return main


# Loops whose length depends on the thread are no business of the block.
@tilelang.jit
def counted(n=32):
    @T.prim_func
    def main(A: T.Tensor((n,), "int32"), B: T.Tensor((n,), "int32")):
        with T.Kernel(1, threads=n) as bx:
            t = T.get_thread_binding()
            own = T.alloc_local((1,), "int32")
            flag = T.alloc_fragment((1,), "int32")
            flag[0] = 7
            own[0] = 0
            for i in T.serial(t):
                own[0] += A[i] % 5
            T.sync_threads()
            B[t] = own[0] + flag[0]

    return main


# The block doubles an element, and sums up in another: once, not once for each thread.
@tilelang.jit
def renewed(N=40, threads=64):
    @T.prim_func
    def main(Y: T.Tensor((N,), "float32"), Z: T.Tensor((1,), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            s = T.alloc_shared((2,), "float32")
            s[1] = 0.0
            Z[0] = 1.0
            for i in T.serial(N):
                Y[i] = Y[i] * 2
                s[1] = s[1] + Y[i]
                Z[0] = Z[0] * 0.5 + s[1]

    return main
