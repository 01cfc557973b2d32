# Tile operators that only some threads reach; what comes later in the text waits for them.
# verify: :half_loads
# verify: :half_copies
# verify: :two_parts
# verify: :each_warp --cuda=tile-threads --hip=tile-threads
# verify: :own_rows
import tilelang
import tilelang.language as T


@tilelang.jit
def half_loads(M=32, N=48):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=256) as bx:
            s = T.alloc_shared((M, N), "float32")
            t = T.get_thread_binding(0)
            if t >= 128 and t < 256:
                for i, j in T.Parallel(M, N):
                    s[i, j] = A[i, j] * 2
            T.copy(s, B)

    return main


@tilelang.jit
def half_copies(M=32, N=48):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=256) as bx:
            s = T.alloc_shared((M, N), "float32")
            t = T.get_thread_binding(0)
            if t >= 128:
                T.copy(A, s)
            T.copy(s, B)

    return main


@tilelang.jit
def two_parts(N=64):
    @T.prim_func
    def main(A: T.Tensor((2, N), "float32"), B: T.Tensor((2, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((2, N), "float32")
            t = T.get_thread_binding(0)
            if t < 64:
                for i in T.Parallel(N):
                    s[0, i] = A[0, i] + 1
            else:
                for i in T.Parallel(N):
                    s[1, i] = A[1, i] + 2
            T.sync_threads()
            for i in T.serial(N // 64):
                B[0, i * 64 + t % 64] = s[1, i * 64 + t % 64]
                B[1, i * 64 + t % 64] = s[0, i * 64 + t % 64]

    return main


# The first thread of every warp copies for its warp.
@tilelang.jit
def each_warp(K=40, warps=4):
    @T.prim_func
    def main(A: T.Tensor((warps, K), "float32"), B: T.Tensor((warps,), "float32")):
        with T.Kernel(1, threads=warps * 32) as bx:
            t = T.get_thread_binding()
            w = t // 32
            s = T.alloc_shared((warps, K), "float32")
            here = T.alloc_barrier([32] * warps)
            T.tma_copy(A[w, 0:K], s[w, 0:K], barrier=here[w], leader_scope_threads=32)
            T.mbarrier_arrive(here[w])
            T.mbarrier_wait_parity(here[w], 0)
            if t % 32 == 5:
                B[w] = s[w, 3] + s[w, K - 1]

    return main


# What is the same for the threads of a part is one thing to them.
@tilelang.jit
def own_rows(N=64):
    @T.prim_func
    def main(A: T.Tensor((2, N), "float32"), B: T.Tensor((2, N), "float32")):
        with T.Kernel(1, threads=256) as bx:
            half = T.get_thread_binding() // 128
            s = T.alloc_shared((2, N), "float32")
            if half == 0:
                T.copy(A[half, 0:N], s[half, :])
                for i in T.Parallel(N):
                    B[half, i] = s[half, i] + A[half + 1, 0]
            else:
                T.copy(A[half, 0:N], s[half, :])
                for i in T.Parallel(N):
                    B[half, i] = s[half, i] * 3

    return main
