# Sums of tiles into global memory, for test/gpu/reduce.sh.
import tilelang
import tilelang.language as T


@tilelang.jit
def tile(M=32, N=64, blocks=3, threads=128, dtype="float32", out="float32"):
    @T.prim_func
    def main(A: T.Tensor((blocks, M, N), dtype), B: T.Tensor((M, N), out)):
        with T.Kernel(blocks, threads=threads) as bx:
            x = T.alloc_fragment((M, N), dtype)
            T.copy(A[bx, 0, 0], x)
            T.atomic_add(B, x)

    return main


@tilelang.jit
def pairs(N=256, width=2, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype)):
        with T.Kernel(2, threads=64) as bx:
            for i in T.Parallel(N // width):
                if width == 2:
                    T.atomic_addx2(B[i * 2], A[i * 2])
                else:
                    T.atomic_addx4(B[i * 4], A[i * 4])

    return main
