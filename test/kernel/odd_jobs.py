# Small kernels as users write them: odd sizes, narrow integers, conditions in nests, loops of every kind.
# verify: :middle
# verify: :largest_bytes
# verify: :from_the_end
# verify: :bytes_wrap
# verify: :in_steps
# verify: :any_and_all
# verify: :tiles_in_turn
# verify: :halves_change_places
# verify: :every_other_block
# verify: :squares
# verify: :first_of_each
# verify: :until
import tilelang
import tilelang.language as T


@tilelang.jit
def middle(X=5, Y=7, Z=9):
    @T.prim_func
    def main(A: T.Tensor((X, Y, Z), "float32"), B: T.Tensor((X, Z), "float32")):
        with T.Kernel(1, threads=64):
            a = T.alloc_fragment((X, Y, Z), "float32")
            b = T.alloc_fragment((X, Z), "float32")
            T.copy(A, a)
            T.reduce_max(a, b, dim=1)
            T.copy(b, B)

    return main


@tilelang.jit
def largest_bytes(X=3, Y=33, Z=5):
    @T.prim_func
    def main(A: T.Tensor((X, Y, Z), "int8"), B: T.Tensor((Y, Z), "int32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_fragment((X, Y, Z), "int32")
            b = T.alloc_fragment((Y, Z), "int32")
            for i, j, k in T.Parallel(X, Y, Z):
                a[i, j, k] = T.cast(A[i, j, k], "int32")
            T.reduce_absmax(a, b, dim=0)
            T.copy(b, B)

    return main


@tilelang.jit
def from_the_end(M=6, N=77):
    @T.prim_func
    def main(A: T.Tensor((M, N), "int32"), B: T.Tensor((M, N), "int32")):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((M, N), "int32")
            T.copy(A, a)
            T.cumsum(a, dim=1, reverse=True)
            T.copy(a, B)

    return main


@tilelang.jit
def bytes_wrap(N=43):
    @T.prim_func
    def main(A: T.Tensor((N,), "uint8"), B: T.Tensor((N,), "uint8"), C: T.Tensor((N,), "uint8")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(N):
                s = A[i] + B[i]
                if (s >= 10 and s < 100) or not (A[i] > 5):
                    C[i] = s
                else:
                    C[i] = T.uint8(255) - s

    return main


@tilelang.jit
def in_steps(M=64, N=8):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, 2), "float32")):
        with T.Kernel(2, threads=32) as bx:
            tx = T.get_thread_binding()
            sums = T.alloc_local((2,), "float32")
            for i in T.serial(2):
                sums[i] = 0.0
            for j in T.serial(0, N, 2):
                for p in T.unroll(2):
                    sums[p] = sums[p] + A[bx * 32 + tx, j + p]
            for j in T.serial(2):
                B[bx * 32 + tx, j] = sums[j]

    return main


@tilelang.jit
def any_and_all(M=10, N=12):
    @T.prim_func
    def main(A: T.Tensor((M, N), "int32"), B: T.Tensor((M, 2), "int32")):
        with T.Kernel(M, threads=32) as bx:
            s = T.alloc_shared((N,), "int32")
            for j in T.Parallel(N):
                s[j] = T.if_then_else(A[bx, j] > bx - 5, 1, 0)
            if T.any_of(s):
                B[bx, 0] = 1
            else:
                B[bx, 0] = 0
            if T.all_of(s):
                B[bx, 1] = 1
            else:
                B[bx, 1] = 0

    return main


@tilelang.jit
def tiles_in_turn(M=5, N=3):
    @T.prim_func
    def main(A: T.Tensor((M * 16, N * 16), "float32"), B: T.Tensor((M * 16, N * 16), "float32")):
        with T.Kernel(4, threads=64) as bx:
            s = T.alloc_shared((16, 16), "float32")
            for i, j in T.Persistent([M, N], 4, bx):
                T.copy(A[i * 16, j * 16], s)
                for x, y in T.Parallel(16, 16):
                    s[x, y] = s[x, y] + 1
                T.copy(s, B[i * 16, j * 16])

    return main


@tilelang.jit
def halves_change_places(M=16, N=24):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((M, N), "float32")
            T.copy(A[0:M, N // 2:N], s[0:M, 0:N // 2])
            T.copy(A[0:M, 0:N // 2], s[0:M, N // 2:N])
            T.copy(s, B)

    return main


@tilelang.jit
def every_other_block(M=7, N=40):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), B: T.Tensor((M, N), "float16")):
        with T.Kernel(M, threads=32) as bx:
            tx = T.get_thread_binding()
            if tx < N // 4:
                for v in T.vectorized(4):
                    if bx % 2 == 0:
                        B[bx, tx * 4 + v] = A[bx, tx * 4 + v]
                    else:
                        B[bx, tx * 4 + v] = -A[bx, tx * 4 + v]

    return main


@tilelang.jit
def squares(M=20, N=6):
    @T.prim_func
    def main(A: T.Tensor((M, N), "int16"), B: T.Tensor((N,), "int16")):
        with T.Kernel(1, threads=32):
            f = T.alloc_fragment((M, N), "int16")
            r = T.alloc_fragment((N,), "int16")
            for i, j in T.Parallel(M, N):
                f[i, j] = A[i, j] * A[i, j] * T.int16(1001)
            T.reduce_max(f, r, dim=0)
            T.copy(r, B)

    return main


@tilelang.jit
def first_of_each(M=12, N=21):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M,), "int32")):
        with T.Kernel(1, threads=32):
            a = T.alloc_fragment((M, N), "float32")
            m = T.alloc_fragment((M,), "float32")
            at = T.alloc_fragment((M, N), "int32")
            r = T.alloc_fragment((M,), "int32")
            T.copy(A, a)
            T.reduce_max(a, m, dim=1)
            for i, j in T.Parallel(M, N):
                at[i, j] = T.if_then_else(a[i, j] == m[i], j, N)
            T.reduce_min(at, r, dim=1)
            T.copy(r, B)

    return main


@tilelang.jit
def until(M=40, N=11):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            s = T.alloc_var("float32", 0.0)
            if tx < M:
                for j in T.serial(N):
                    if A[tx, j] > 1.5:
                        break
                    s = s + A[tx, j]
                B[tx] = s

    return main
