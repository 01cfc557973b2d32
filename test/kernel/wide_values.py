# 64-bit integers that need all of their bits: read, computed, chosen, moved through tiles and used as indices.
# verify: :gather
# verify: :gather itype=uint64
# verify: :hashes
# verify: :hashes N=70 threads=96
# verify: :sums
# verify: :sums M=5 N=33 dtype=uint64
# verify: :scan
# verify: :times
# verify: :swapped
# verify: :floats
# verify: :scalar n=9876543210
import tilelang
import tilelang.language as T


@tilelang.jit
def gather(R=50, D=36, N=23, itype="int64"):
    """Rows by indices of 64 bits, as torch has them."""
    @T.prim_func
    def main(X: T.Tensor((R, D), "float32"), I: T.Tensor((N,), itype), O: T.Tensor((N, D), "float32")):
        with T.Kernel(T.ceildiv(N, 8), threads=96) as bx:
            at = T.alloc_shared((8,), itype)
            for i in T.Parallel(8):
                at[i] = T.if_then_else(bx * 8 + i < N, I[bx * 8 + i] * 7919 % R, 0)
            for i, j in T.Parallel(8, D):
                if bx * 8 + i < N:
                    O[bx * 8 + i, j] = X[at[i], j]

    return main


@tilelang.jit
def hashes(N=50, threads=64):
    """A hash of 64 bits: products, shifts and exclusive ors of whole words."""
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), H: T.Tensor((N,), "uint64"), B: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=threads):
            tx = T.get_thread_binding()
            h = T.alloc_var("uint64")
            if tx < N:
                h = T.cast(X[tx], "uint64")
                for i in T.serial(3):
                    h = h * T.uint64(0x9E3779B97F4A7C15) + T.cast(i, "uint64")
                    h = h ^ (h >> T.uint64(29))
                H[tx] = h
                B[tx] = T.cast(h % T.uint64(1000003), "int32")

    return main


@tilelang.jit
def sums(M=7, N=50, dtype="int64"):
    @T.prim_func
    def main(A: T.Tensor((M, N), "int32"), S: T.Tensor((M,), dtype), X: T.Tensor((M,), dtype)):
        with T.Kernel(1, threads=96):
            a = T.alloc_fragment((M, N), dtype)
            s = T.alloc_fragment((M,), dtype)
            x = T.alloc_fragment((M,), dtype)
            for i, j in T.Parallel(M, N):
                a[i, j] = (T.cast(A[i, j], dtype) << T.cast(40, dtype)) + T.cast(j, dtype)
            T.reduce_sum(a, s, dim=1)
            T.reduce_max(a, x, dim=1)
            T.copy(s, S)
            T.copy(x, X)

    return main


@tilelang.jit
def scan(M=3, N=40):
    @T.prim_func
    def main(A: T.Tensor((M, N), "int64"), O: T.Tensor((M, N), "int64")):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((M, N), "int64")
            for i, j in T.Parallel(M, N):
                a[i, j] = A[i, j] * 3000000019
            T.cumsum(a, dim=1)
            T.copy(a, O)

    return main


@tilelang.jit
def times(N=64):
    """Loops and conditions that 64 bits decide."""
    @T.prim_func
    def main(X: T.Tensor((N,), "int64"), O: T.Tensor((N,), "int64")):
        with T.Kernel(1, threads=N):
            tx = T.get_thread_binding()
            v = T.alloc_var("int64")
            n = T.alloc_var("int64")
            v = X[tx] * 1000000007 + 12345678901
            n = 0
            while v > 1:
                v = v // 3
                n = n + 5000000000
            O[tx] = T.if_then_else(n >= 100000000000, n, -n)

    return main


@tilelang.jit
def swapped(N=96):
    """Between threads, and back through memory in place."""
    @T.prim_func
    def main(X: T.Tensor((N,), "int64"), O: T.Tensor((N,), "int64")):
        with T.Kernel(1, threads=N):
            tx = T.get_thread_binding()
            s = T.alloc_shared((N,), "int64")
            s[tx] = X[tx] * 4294967311
            T.sync_threads()
            O[tx] = s[N - 1 - tx] - s[tx]
            O[tx] = O[tx] * O[tx] + 1

    return main


@tilelang.jit
def floats(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), I: T.Tensor((N,), "int64"), F: T.Tensor((3, N), "float32"), H: T.Tensor((N,), "bfloat16")):
        with T.Kernel(1, threads=N):
            for i in T.Parallel(N):
                I[i] = T.cast(X[i] * 1e12, "int64")
                F[0, i] = T.cast(T.cast(X[i] * 1e12, "int64") * 1000003 + 7, "float32")
                F[1, i] = T.cast(T.cast(i, "uint64") * T.uint64(0xFFFFFFFFFFFF), "float32")
                F[2, i] = T.cast(T.cast(X[i] * 1e30, "int64"), "float32")
                H[i] = T.cast(T.cast(X[i] * 1e9, "int64") * 65537, "bfloat16")

    return main


@tilelang.jit
def scalar(N=40):
    @T.prim_func
    def main(n: T.int64, X: T.Tensor((N,), "int32"), O: T.Tensor((N,), "int64")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(N):
                O[i] = n * 3 + T.cast(X[i], "int64")

    return main
