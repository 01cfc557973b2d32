# Tiles are stored from places that a tensor holds, some of them before the first row or the first chunk: what lies outside
# is not written.
# verify: :rows
# verify: :rows M=100 N=72
# verify: :rows dtype=float32 N=48 M=33
# verify: :role --hip=tile-threads
# verify: :role M=100 steps=5 --hip=tile-threads
# verify: :chunks
# verify: :chunks D=40 n=3
import tilelang
import tilelang.language as T


@tilelang.jit
def rows(M=128, N=64, dtype="bfloat16"):
    @T.prim_func
    def main(A: T.Tensor((4, M, N), dtype), S: T.Tensor((4,), "int32"), C: T.Tensor((4, M, N), dtype)):
        with T.Kernel(4, threads=128) as bx:
            s = T.alloc_shared((32, N), dtype)
            start = T.alloc_var("int32")
            start = S[bx] % 80 - 40
            for i in T.serial(3):
                T.copy(A[bx, i * 32, 0], s)
                T.copy(s, C[bx, start + i * 32, 0])

    return main


@tilelang.jit
def role(M=128, N=64, steps=4, dtype="bfloat16"):
    @T.prim_func
    def main(A: T.Tensor((2, M, N), dtype), S: T.Tensor((2,), "int32"), C: T.Tensor((2, M, N), dtype)):
        with T.Kernel(2, threads=256) as bx:
            s = T.alloc_shared((32, N), dtype)
            full = T.alloc_barrier(128)
            free = T.alloc_barrier(32)
            start = T.alloc_var("int32")
            start = S[bx] % 80 - 40
            tx = T.get_thread_binding()
            if tx < 128:
                for i in T.serial(steps):
                    T.barrier_wait(free, (i + 1) % 2)
                    for r, c in T.Parallel(32, N):
                        s[r, c] = A[bx, i * 32 + r, c] * 2
                    T.fence_proxy_async()
                    T.barrier_arrive(full)
            elif tx < 160:
                for i in T.serial(steps):
                    T.barrier_wait(full, i % 2)
                    T.copy(s, C[bx, start + i * 32:start + i * 32 + 32, 0:N])
                    T.barrier_arrive(free)

    return main


@tilelang.jit
def chunks(n=4, D=64, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((n, 64, D), dtype), S: T.Tensor((n,), "int32"), C: T.Tensor((n, 64, D), dtype)):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((64, D), dtype)
            for i in T.serial(n):
                T.copy(A[i, 0, 0], s)
                T.copy(s, C[S[i] % 2 * n + i - n, 0, 0])

    return main
