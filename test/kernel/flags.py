# Blocks that wait for each other by flags and counters in memory; the first launch lowers them.
# verify: :chain
# verify: :chain P=5
# verify: :last
# verify: :last P=300 N=32
import tilelang
import tilelang.language as T


# Each waits for the one before it and goes on from what that wrote.
@tilelang.jit
def chain(P=4, N=64):
    @T.prim_func
    def main(A: T.Tensor((P, N), "float32"), W: T.Tensor((P, N), "float32"), F: T.Tensor((P,), "int32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(P):
                F[i] = 0
        with T.Kernel(P, threads=N) as b:
            t = T.get_thread_binding()
            if b > 0:
                seen = T.alloc_var("int32", init=0)
                while seen == 0:
                    seen = T.atomic_load(F[b - 1], memory_order="acquire")
                W[b, t] = W[b - 1, t] + A[b, t]
            else:
                W[b, t] = A[b, t]
            T.sync_threads()
            if t == 0:
                T.atomic_store(F[b], 1, memory_order="release")

    return main


# The one that comes last adds what all have brought.
@tilelang.jit
def last(P=4, N=64):
    @T.prim_func
    def main(A: T.Tensor((P, N), "float32"), W: T.Tensor((P, N), "float32"), F: T.Tensor((1,), "int32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=1):
            F[0] = 0
        with T.Kernel(P, threads=N) as b:
            t = T.get_thread_binding()
            ticket = T.alloc_shared((1,), "int32")
            W[b, t] = A[b, t] * 2.0
            T.sync_threads()
            if t == 0:
                ticket[0] = T.atomic_add(F[0], 1, memory_order="acq_rel", return_prev=True)
            T.sync_threads()
            if ticket[0] == P - 1:
                s = T.alloc_var("float32", init=0.0)
                for p in T.serial(P):
                    s += W[p, t]
                C[t] = s

    return main
