# T.any_of and T.all_of of tiles, for test/gpu/reduce.sh.
import tilelang
import tilelang.language as T


@tilelang.jit
def found(M=6, N=40, threads=128, shared=False, all_of=False, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((3, M, N), dtype), Y: T.Tensor((3, 2), "int32")):
        with T.Kernel(3, threads=threads) as bx:
            if shared:
                x = T.alloc_shared((M, N), dtype)
            else:
                x = T.alloc_fragment((M, N), dtype)
            T.copy(X[bx, 0, 0], x)
            for i, j in T.Parallel(M, N):
                x[i, j] = T.if_then_else(i + j == bx * 40, bx - 1, all_of)
            if all_of:
                Y[bx, 0] = T.if_then_else(T.all_of(x), 1, 0)
            else:
                Y[bx, 0] = T.if_then_else(T.any_of(x), 1, 0)
            Y[bx, 1] = 7

    return main
