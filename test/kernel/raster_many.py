# More blocks than 16 bits count, in panels along either dimension: each is there once.
# verify:
# verify: order=column
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def many(X=259, Y=257, order="row"):
    @T.prim_func
    def main(Out: T.Tensor((Y, X), "int32")):
        with T.Kernel(X, Y, threads=32) as (bx, by):
            T.use_swizzle(4, order=order)
            for i in T.Parallel(1):
                Out[by, bx] = by * X + bx + 1

    return main
