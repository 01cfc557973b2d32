# More blocks along the second or third dimension of a grid than a GPU counts there.
# verify: :rows
# verify: :rows side=2
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def rows(many=66000, side=1):
    n = (2, many, 3) if side == 1 else (2, 3, many)

    @T.prim_func
    def main(A: T.Tensor((4, 8), "int32"), O: T.Tensor((2, 3, 8), "int32")):
        with T.Kernel(*n, threads=32) as (bx, by, bz):
            long = by if side == 1 else bz
            short = bz if side == 1 else by
            if long == many - 5:
                for j in T.Parallel(8):
                    O[bx, short, j] = long + short
                for i in T.serial(4):
                    for j in T.Parallel(8):
                        O[bx, short, j] += A[i, j] * (bx + 1)

    return main
