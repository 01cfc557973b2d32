"""A block that waits for blocks that start after it: they have to run together."""
import tilelang
import tilelang.language as T


@tilelang.jit
def gather(P=4, N=48, order="acquire"):
    @T.prim_func
    def main(A: T.Tensor((P, N), "float32"), W: T.Tensor((P, N), "float32"), F: T.Tensor((P,), "int32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(P):
                F[i] = 0
        with T.Kernel(P, threads=N) as b:
            t = T.get_thread_binding()
            W[b, t] = A[b, t] * 2.0
            T.sync_threads()
            if t == 0:
                T.atomic_store(F[b], 1, memory_order="release")
            if b == 0:
                for p in T.serial(P):
                    seen = T.alloc_var("int32", init=0)
                    while seen == 0:
                        seen = T.atomic_load(F[p], memory_order=order)
                s = T.alloc_var("float32", init=0.0)
                for p in T.serial(P):
                    s += W[p, t]
                C[t] = s

    return main
