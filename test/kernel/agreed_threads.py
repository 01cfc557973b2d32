# Indices of threads that are the same for all that come by: they mean one thing to an operator of theirs.
# verify: :by_name
# verify: :nests
# verify: :products
# verify: :roles
# verify: :bounds
# verify: :all_agree
# verify: :by_role
# verify: :by_var
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


@tilelang.jit
def bounds(N=64, R=4):
    @T.prim_func
    def main(A: T.Tensor((R, N), "float32"), O: T.Tensor((2, N), "float32")):
        with T.Kernel(1, threads=256):
            t = T.get_thread_binding()
            s = T.alloc_shared((2, N), "float32")
            f = T.alloc_fragment((N,), "float32")
            g = T.alloc_fragment((N,), "float32")
            if t < 128:
                T.clear(f)
                for k in T.serial(t // 128 + 2):
                    T.copy(A[k, 0:N], s[0, :])
                    for i in T.Parallel(N):
                        f[i] += s[0, N - 1 - i]
                T.copy(f, O[0, :])
            else:
                T.clear(g)
                for k in T.serial(t // 128, R):
                    T.copy(A[k, 0:N], s[1, :])
                    for i in T.Parallel(N):
                        g[i] += s[1, N - 1 - i]
                T.copy(g, O[1, :])

    return main


# One number to all threads of the block.
@tilelang.jit
def all_agree(N=64, R=4):
    @T.prim_func
    def main(A: T.Tensor((R, N), "float32"), O: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=256):
            t = T.get_thread_binding()
            f = T.alloc_fragment((N,), "float32")
            x = T.alloc_fragment((N,), "float32")
            T.clear(f)
            for k in T.Pipelined(t // 256 + R, num_stages=2):
                T.copy(A[k, 0:N], x)
                for i in T.Parallel(N):
                    f[i] += x[i]
            T.copy(f, O)

    return main


@tilelang.jit
def by_role(N=64, R=4):
    @T.prim_func
    def main(A: T.Tensor((R, N), "float32"), O: T.Tensor((2, N), "float32")):
        with T.Kernel(1, threads=256):
            t = T.get_thread_binding()
            w = t // 128
            with T.ws(1):
                f = T.alloc_fragment((N,), "float32")
                x = T.alloc_fragment((N,), "float32")
                T.clear(f)
                for k in T.serial(w, R):
                    T.copy(A[k, 0:N], x)
                    for i in T.Parallel(N):
                        f[i] += x[i] * w
                T.copy(f, O[w, :])
            with T.ws(0):
                g = T.alloc_fragment((N,), "float32")
                for k in T.serial(w + 1):
                    if w == 0:
                        T.copy(A[k + w, 0:N], g)
                T.copy(g, O[w, :])

    return main


# A variable that is set from the thread.
@tilelang.jit
def by_var(N=64, R=4):
    @T.prim_func
    def main(A: T.Tensor((R, N), "float32"), O: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=256):
            t = T.get_thread_binding()
            n = T.alloc_var("int32", init=0)
            f = T.alloc_fragment((N,), "float32")
            x = T.alloc_fragment((N,), "float32")
            if t >= 128:
                n = t // 128 + 1
                T.clear(f)
                for k in T.serial(n):
                    T.copy(A[k, 0:N], x)
                    for i in T.Parallel(N):
                        f[i] += x[i]
                T.copy(f, O)

    return main
