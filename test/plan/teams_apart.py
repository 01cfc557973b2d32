# Tiles of threads that go side by side share no bytes while there is room: they would wait for each other.
# run: --target="cuda -arch=sm_90a"
# expect: kernel main_kernel: 256 threads, 3072 bytes on chip
# expect: own: shared float32[256], 1024 bytes at 1024
# expect: other.1: shared float32[256], 1024 bytes at 2048
import tilelang
import tilelang.language as T


@tilelang.jit
def main(N=256):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((2, N), "float32")):
        with T.Kernel(1, threads=256) as bx:
            both = T.alloc_shared((N,), "float32")
            own = T.alloc_shared((N,), "float32")
            other = T.alloc_shared((N,), "float32")
            for i in T.Parallel(N):
                both[N - 1 - i] = A[i]
            with T.ws(1):
                for i in T.Parallel(N):
                    own[N - 1 - i] = both[i] * 2
                T.copy(own, B[0, 0:N])
            with T.ws(0):
                for i in T.Parallel(N):
                    other[N - 1 - i] = both[i] * 3
                T.copy(other, B[1, 0:N])

    return main
