# Arithmetic on loop, block and thread indices is that of whole numbers, in values too: what leaves 32 bits is
# whole where it is compared, divided, chosen, named, turned into a float or stored in 64 bits.
# verify: :values
# verify: :values N=9 c=-1500000001
# verify: :blocks
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-2, -1])
def values(N=7, c=1000000007):
    @T.prim_func
    def main(O: T.Tensor((9, N), "int64"), F: T.Tensor((3, N), "float64")):
        with T.Kernel(1, threads=32):
            v = T.alloc_var("int32")
            for i in T.serial(N):
                x = i * c
                y = T.max(x, 3)
                O[0, i] = i * c
                O[1, i] = x // 3
                O[2, i] = T.if_then_else(i > 2, x + 1, i)
                O[3, i] = y - x
                O[4, i] = T.min(i * c, 5) + x % 1000
                O[5, i] = (i * c) >> 1
                O[6, i] = T.Select(x > 2147483647, 1, 0)
                v = x
                O[7, i] = v
                O[8, i] = T.abs(-x)
                F[0, i] = x * 0.5
                F[1, i] = T.cast(i * c + 1, "float64")
                F[2, i] = y

    return main


@tilelang.jit(out_idx=[-1])
def blocks(N=5, many=70000):
    @T.prim_func
    def main(O: T.Tensor((3, N), "int64")):
        with T.Kernel(3, many, threads=32) as (bx, by):
            if by == many - 1:
                for i in T.Parallel(N):
                    O[bx, i] = by * many * 3 + bx * 1000000007 + i

    return main
