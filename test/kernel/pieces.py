# Indices that divide: a tile in pieces, whole ones and such that a vector does not fit.
# verify: :pieces
# verify: :pieces p=8 q=4
# verify: :pieces p=4 q=6 M=24 N=48
# verify: :pieces p=5 q=3 M=20 N=30
# verify: :named
import tilelang
import tilelang.language as T


@tilelang.jit
def pieces(M=32, N=64, p=16, q=16, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M // p, N // q, p, q), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((M // p, N // q, p, q), dtype)
            T.copy(A, s)
            for i, j in T.Parallel(M, N):
                C[i, j] = s[i // p, j // q, i % p, j % q]

    return main


# Names for quotients and remainders, also of a negative number, and a bound on what they make together.
@tilelang.jit
def named(n=100):
    @T.prim_func
    def main(A: T.Tensor((16, 8), "float32"), B: T.Tensor((128,), "float32"), C: T.Tensor((128,), "int32")):
        with T.Kernel(2, threads=64) as bx:
            t = T.get_thread_binding()
            at = bx * 64 + t
            row = at // 8
            col = at % 8
            down = (at - 70) // 16
            if row * 8 + col < n:
                B[row * 8 + col] = A[row, col]
            else:
                B[at] = 0.0
            C[at] = down * 100 + (at - 70) % 16

    return main
