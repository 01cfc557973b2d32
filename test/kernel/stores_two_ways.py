# Bulk stores to a tensor that threads write too, in roles and loops; a store that starts outside goes by threads.
# verify: :two_paths
# verify: :two_paths n=3 full=1
# verify: :two_roles
# verify: :halves
# verify: :over
# verify: :before
import tilelang
import tilelang.language as T


@tilelang.jit
def two_paths(n=4, rows=16, b=128, full=2):  # every so many tiles is full, the others are cut
    @T.prim_func
    def main(A: T.Tensor((n * rows, b), "float16"), C: T.Tensor((n * rows, b), "float16")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((rows, b), "float16")
            u = T.alloc_fragment((rows, b), "float16")
            for k in T.serial(n):
                T.copy(A[k * rows, 0], u)
                if k % full == 0:
                    T.copy(u, s)
                    T.copy(s, C[k * rows, 0])
                else:
                    for i, j in T.Parallel(rows, b):
                        C[k * rows + i, j] = T.if_then_else(i < rows // 2, u[i, j] * 2, u[i, j])

    return main


@tilelang.jit
def two_roles(n=3, rows=16, b=64):
    @T.prim_func
    def main(A: T.Tensor((2 * n * rows, b), "float16"), C: T.Tensor((2 * n * rows, b), "float16")):
        with T.Kernel(1, threads=256) as bx:
            s = T.alloc_shared((rows, b), "float16")
            u = T.alloc_fragment((rows, b), "float16")
            v = T.alloc_fragment((rows, b), "float16")
            with T.ws(0):
                for k in T.serial(n):
                    T.copy(A[2 * k * rows, 0], u)
                    T.copy(u, s)
                    T.copy(s, C[2 * k * rows, 0])
            with T.ws(1):
                for k in T.serial(n):
                    T.copy(A[(2 * k + 1) * rows, 0], v)
                    for i, j in T.Parallel(rows, b):
                        C[(2 * k + 1) * rows + i, j] = v[i, j] * 3

    return main


@tilelang.jit
def halves(rows=64, b=128):  # each role stores its columns
    @T.prim_func
    def main(A: T.Tensor((rows, b), "float16"), C: T.Tensor((rows, b), "float16")):
        with T.Kernel(1, threads=256) as bx:
            s = T.alloc_shared((rows, b // 2), "float16")
            r = T.alloc_shared((rows, b // 2), "float16")
            u = T.alloc_fragment((rows, b // 2), "float16")
            v = T.alloc_fragment((rows, b // 2), "float16")
            with T.ws(0):
                T.copy(A[0, 0], u)
                T.copy(u, s)
                T.copy(s, C[0, 0])
            with T.ws(1):
                T.copy(A[0, b // 2], v)
                T.copy(v, r)
                T.copy(r, C[0, b // 2])

    return main


@tilelang.jit
def over(rows=16, b=128):  # threads, then a bulk store, then threads write the same places
    @T.prim_func
    def main(A: T.Tensor((rows, b), "float16"), C: T.Tensor((rows, b), "float16")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((rows, b), "float16")
            u = T.alloc_fragment((rows, b), "float16")
            T.copy(A, u)
            for i, j in T.Parallel(rows, b):
                C[i, j] = u[i, j] * 5
            T.copy(u, s)
            T.copy(s, C)
            for i, j in T.Parallel(rows // 2, b):
                C[i, b - 1 - j] = T.float16(7) + i

    return main


@tilelang.jit
def before(rows=16, b=128):  # rows that are not there are not written
    @T.prim_func
    def main(A: T.Tensor((rows, b), "float16"), at: T.Tensor((2,), "int32"), C: T.Tensor((rows, b), "float16")):
        with T.Kernel(2, threads=128) as bx:
            s = T.alloc_shared((rows, b), "float16")
            u = T.alloc_fragment((rows, b), "float16")
            T.copy(A, u)
            T.copy(u, s)
            T.copy(s, C[bx * rows + at[bx] % 8 * 0 - 8, 0])

    return main
