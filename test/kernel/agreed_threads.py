# Indices of threads that are the same for all that come by: they mean one thing to an operator of theirs.
# verify: :by_name
# verify: :nests
# verify: :products
# verify: :roles
import tilelang
import tilelang.language as T


@tilelang.jit
def by_name(N=512):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), O: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=256):
            t = T.get_thread_binding()
            w = t // 128
            s = T.alloc_shared((2, 128), "int32")
            if t < 128:
                T.copy(A[w * 128 : w * 128 + 128], s[w, :])
            else:
                T.copy(A[w * 128 : w * 128 + 128], s[w, :])
            T.sync_threads()
            for i in T.Parallel(256):
                O[i] = s[i // 128, i % 128]

    return main


@tilelang.jit
def nests(N=256):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), O: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=128):
            t = T.get_thread_binding()
            f = T.alloc_fragment((64,), "int32")
            g = T.alloc_fragment((64,), "int32")
            if t // 64 == 0:
                T.copy(A[(t // 64) * 64], f)
                for i in T.Parallel(64):
                    O[i] = f[i] + t // 64
            else:
                T.copy(A[(t // 64) * 64 : (t // 64) * 64 + 64], g)
                for i in T.Parallel(64):
                    O[i + 64] = g[i] * (t // 64 + 1)
            for i in T.Parallel(128):
                O[i + 128] = t // 128 + i

    return main


@tilelang.jit
def products(M=64, N=64, K=32):
    @T.prim_func
    def main(A: T.Tensor((2, M, K), "float16"), B: T.Tensor((2, K, N), "float16"), O: T.Tensor((2, M, N), "float32")):
        with T.Kernel(1, threads=256):
            t = T.get_thread_binding()
            a = T.alloc_shared((2, M, K), "float16")
            b = T.alloc_shared((2, K, N), "float16")
            c = T.alloc_fragment((M, N), "float32")
            d = T.alloc_fragment((M, N), "float32")
            T.copy(A, a)
            T.copy(B, b)
            if t < 128:
                T.clear(c)
                T.gemm(a[t // 128, :, :], b[t // 128, :, :], c)
                T.copy(c, O[t // 128, :, :])
            else:
                T.clear(d)
                T.gemm(a[t // 128, :, :], b[t // 128, :, :], d)
                T.copy(d, O[t // 128, :, :])

    return main


@tilelang.jit
def roles(N=64):
    @T.prim_func
    def main(A: T.Tensor((2, N), "float32"), O: T.Tensor((2, N), "float32")):
        with T.Kernel(1, threads=256):
            t = T.get_thread_binding()
            s = T.alloc_shared((2, N), "float32")
            with T.ws(0):
                T.copy(A[t // 128, :], s[t // 128, :])
            with T.ws(1):
                T.copy(A[t // 128, :], s[t // 128, :])
            T.sync_threads()
            T.copy(s, O)

    return main
