# Arrays of a thread whose elements are vectors, and views between vectors and scalars.
# verify: :halves
# verify: :halves dtype=int8 lanes=4
# verify: :halves dtype=float32 lanes=2
# verify: :viewed
# verify: :table
import tilelang
import tilelang.language as T


@tilelang.jit
def halves(n=32, dtype="float16", lanes=2):
    vector = "%sx%d" % (dtype, lanes)

    @T.prim_func
    def main(A: T.Tensor((n, 2 * lanes), dtype), B: T.Tensor((n, 2 * lanes), dtype),
             C: T.Tensor((n,), dtype)):
        with T.Kernel(1, threads=n):
            t = T.get_thread_binding()
            x = T.alloc_local((2,), vector)
            for i in T.unroll(2):
                x[i] = A[t, i * lanes:(i + 1) * lanes]
            x[0] = x[0] + x[1]
            x[1] += x[0]
            for i in T.unroll(2):
                B[t, i * lanes:(i + 1) * lanes] = x[i]
            assert x.shape[0] == 2 and len(x.shape) == 1 and str(x.dtype) == vector
            flat = T.view(x, (2 * lanes,), dtype)
            s = T.alloc_var(dtype, init=0)
            for i in T.serial(2 * lanes):
                s = s + flat[i]
            C[t] = s

    return main


@tilelang.jit
def viewed(n=32):
    @T.prim_func
    def main(A: T.Tensor((n, 8), "float16"), B: T.Tensor((n, 8), "float16"), U: T.Tensor((n, 4), "uint32")):
        with T.Kernel(1, threads=n):
            t = T.get_thread_binding()
            a = T.alloc_local((8,), "float16")
            two = T.view(a, (4,), "float16x2")
            word = T.view(a, (4,), "uint32")
            for i in T.serial(8):
                a[i] = A[t, i]
            for i in T.serial(4):
                two[i] = two[i] * two[3 - i]
                U[t, i] = word[i]
            for i in T.serial(8):
                B[t, i] = a[i]

    return main


@tilelang.jit
def table(n=32):
    @T.prim_func
    def main(A: T.Tensor((n,), "int32"), B: T.Tensor((n, 4), "int32")):
        with T.Kernel(1, threads=n):
            t = T.get_thread_binding()
            rows = T.alloc_local((3, 2), "int32x4")
            for i, j in T.grid(3, 2):
                rows[i, j] = T.Broadcast(A[t] + i * 2 + j, 4)
            B[t, 0:4] = rows[1, 1] + rows[-1, 0]

    return main
