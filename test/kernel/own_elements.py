# Threads that touch elements of their own need no barrier between; those of others they do.
# verify: :sums
# verify: :rows
# verify: :rows N=96
# verify: :twice
# verify: :halves
import tilelang
import tilelang.language as T


# A running sum of each thread in shared memory, read by its neighbour at the end.
@tilelang.jit(out_idx=[-1])
def sums(N=64, K=24):
    @T.prim_func
    def main(A: T.Tensor((N, K), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=N) as bx:
            t = T.get_thread_binding(0)
            s = T.alloc_shared((N,), "float32")
            s[t] = 0
            for k in T.serial(K):
                s[t] = s[t] + A[t, k]
            C[t] = s[N - 1 - t] + s[t]

    return main


# Each thread fills a row, eight elements at a time, inside a loop whose other part reads columns.
@tilelang.jit(out_idx=[-1])
def rows(N=64, K=32, rounds=3):
    @T.prim_func
    def main(A: T.Tensor((rounds, N, K), "float16"), C: T.Tensor((rounds, K, N), "float16")):
        with T.Kernel(1, threads=N) as bx:
            t = T.get_thread_binding(0)
            s = T.alloc_shared((N, K), "float16")
            for r in T.serial(rounds):
                for u in T.serial(K // 8):
                    for v in T.vectorized(8):
                        s[t, u * 8 + v] = A[r, t, u * 8 + v]
                for k in T.serial(K):
                    C[r, k, t] = s[(t * 5 + k) % N, k]

    return main


# Two stores of one thread to one element of a tensor, under conditions of their own.
@tilelang.jit(out_idx=[-1])
def twice(N=200, S=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), C: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=S) as bx:
            t = T.get_thread_binding(0)
            for k in T.serial(T.ceildiv(N, S)):
                if k * S + t < N:
                    C[k * S + t] = A[k * S + t]
                if k * S + t < N and A[k * S + t] % 3 == 0:
                    C[k * S + t] = -7

    return main


# The same index means other elements to the two halves of the block.
@tilelang.jit(out_idx=[-1])
def halves(N=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), C: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=N) as bx:
            t = T.get_thread_binding(0)
            s = T.alloc_shared((N,), "int32")
            if t < N // 2:
                s[t * 2] = A[t]
            else:
                s[t * 2 - N + 1] = A[t]
            C[t] = s[t]

    return main
