# Nests and windows of as many rows as a value says: elements of a row go together.
# verify: :window
# verify: :window D=72 dtype=float32
# verify: :window R=24 dtype=int8
# verify: :nest
# verify: :nest N=40 D=20
# verify: :from_row
# verify: :sums
import tilelang
import tilelang.language as T


@tilelang.jit
def window(N=100, D=64, R=32, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((N, 2, D), dtype), L: T.Tensor((8,), "int32"), C: T.Tensor((8, R, D), dtype)):
        with T.Kernel(8, threads=64) as bx:
            s = T.alloc_shared((R, D), dtype)
            n = T.min(R, L[bx] % 48)
            T.clear(s)
            T.copy(A[bx * 16 : bx * 16 + n, 1, :D], s[:n, :D])
            T.copy(s, C[bx, :, :])

    return main


@tilelang.jit
def nest(N=64, D=32, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((N, D), dtype), S: T.Tensor((N,), "float32"), L: T.Tensor((4,), "int32"), C: T.Tensor((4, N, D), dtype)):
        with T.Kernel(4, threads=32) as bx:
            T.clear(C[bx, :, :])
            for i, j in T.Parallel(L[bx] % (N + 8), D):
                C[bx, i, j] = A[i, j] * S[i]

    return main


@tilelang.jit
def from_row(N=64, D=32):
    @T.prim_func
    def main(A: T.Tensor((N, D), "float32"), L: T.Tensor((2,), "int32"), C: T.Tensor((N, D), "float16")):
        with T.Kernel(1, threads=96) as bx:
            first = L[0] % 16
            n = L[1] % 40
            T.clear(C)
            for i, j in T.Parallel(n, D):
                if j // 8 != 1:
                    C[first + i, j] = A[first + i, j] + 1

    return main


@tilelang.jit
def sums(N=48, D=16):
    @T.prim_func
    def main(A: T.Tensor((N, D), "float32"), L: T.Tensor((1,), "int32"), C: T.Tensor((D,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            T.clear(C)
            for i, j in T.Parallel(L[0] % N, D):
                T.atomic_add(C[j], T.cast(T.cast(A[i, j] * 4, "int32"), "float32"))

    return main
