# Halves of a block that wait for their own threads, by number, and handle rows of their own.
# verify: :halves
# verify: :halves N=96
# verify: :rounds
import tilelang
import tilelang.language as T


@tilelang.jit
def halves(N=64):
    @T.prim_func
    def main(A: T.Tensor((2, N), "float32"), B: T.Tensor((2, N), "float32")):
        with T.Kernel(1, threads=2 * N):
            t = T.get_thread_binding()
            s = T.alloc_shared((2, N), "float32")
            if t < N:
                s[0, t] = A[0, t]
                T.sync_threads(1, N)
                B[0, t] = s[0, N - 1 - t] * 2
            else:
                s[1, t - N] = A[1, t - N]
                T.sync_threads(2, N)
                B[1, t - N] = s[1, 2 * N - 1 - t] + 1

    return main


# Each in its own number of steps.
@tilelang.jit
def rounds(N=64):
    @T.prim_func
    def main(A: T.Tensor((2, N), "int32"), B: T.Tensor((2, N), "int32")):
        with T.Kernel(1, threads=2 * N):
            t = T.get_thread_binding()
            s = T.alloc_shared((2, 2, N), "int32")
            if t < N:
                s[0, 0, t] = A[0, t]
                for k in T.serial(3):
                    T.sync_threads(1, N)
                    s[0, (k + 1) % 2, t] = s[0, k % 2, (t + 1) % N] + k
                B[0, t] = s[0, 1, t]
            else:
                s[1, 0, t - N] = A[1, t - N]
                for k in T.serial(5):
                    T.sync_threads(2, N)
                    s[1, (k + 1) % 2, t - N] = s[1, k % 2, (t - N + 3) % N] * 3
                B[1, t - N] = s[1, 1, t - N]

    return main
