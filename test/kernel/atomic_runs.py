# Four sums side by side are one instruction where the tensor allows it: under a condition that comes out of memory,
# from a shared tile, and not where what is added is the tensor's own.
# verify: :gathered
# verify: :gathered D=20
# verify: :own
import tilelang
import tilelang.language as T


@tilelang.jit
def gathered(n=32, D=16, rows=8):
    @T.prim_func
    def main(A: T.Tensor((n, D), "float32"), at: T.Tensor((n,), "int32"), B: T.Tensor((rows, D), "float32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((n, D), "float32")
            which = T.alloc_shared((n,), "int32")
            T.copy(A, s)
            for i in T.Parallel(n):
                which[i] = (at[i] & 15) - 4
            for i, j in T.Parallel(n, D // 4):
                if which[i] >= 0 and which[i] < rows:
                    T.atomic_addx4(B[which[i], j * 4], s[i, j * 4])

    return main


@tilelang.jit
def own(n=16):
    @T.prim_func
    def main(B: T.Tensor((n, 4), "float32")):
        with T.Kernel(1, threads=1):
            for i in T.serial(n):
                for j in T.unroll(4):
                    T.atomic_add(B[i, j], B[i, 0])

    return main
