# Elementwise kernels over a flat index that is taken apart again: by names for quotients and remainders, by a tile of
# registers under one name, by a choice that a whole vector makes alike or that parts it.
# verify: :rotary
# verify: :rotary head_dim=24
# verify: :rotary head_dim=12 each=4
# verify: :slopes
# verify: :slopes inner=20
import tilelang
import tilelang.language as T


@tilelang.jit
def rotary(rows=16, head_dim=32, threads=16, each=8, dtype="float16"):
    half = head_dim // 2

    @T.prim_func
    def main(x: T.Tensor((rows, head_dim), dtype), c: T.Tensor((rows, half), dtype), s: T.Tensor((rows, half), dtype),
             y: T.Tensor((rows, head_dim), dtype)):
        with T.Kernel(T.ceildiv(rows * head_dim, threads * each), threads=threads) as bx:
            for i, j in T.Parallel(threads, each):
                flat = (bx * threads + i) * each + j
                row = flat // head_dim
                col = flat % head_dim
                at = col % half
                other = T.if_then_else(col < half, -x[row, col + half], x[row, col - half])
                y[row, col] = x[row, col] * c[row, at] + other * s[row, at]

    return main


@tilelang.jit
def slopes(n=1024, C=4, inner=64, threads=32, each=8, dtype="float16"):
    @T.prim_func
    def main(x: T.Tensor((n,), dtype), w: T.Tensor((C,), dtype), y: T.Tensor((n,), dtype)):
        with T.Kernel(n // (threads * each), threads=threads) as bx:
            a = T.alloc_fragment((threads * each,), dtype)
            b = T.alloc_fragment((threads * each,), dtype)
            T.copy(x[bx * threads * each], a)
            for i, j in T.Parallel(threads, each):
                k = i * each + j
                channel = (bx * threads * each + k) // inner % C
                b[k] = T.if_then_else(a[k] > T.cast(0, dtype), a[k], w[channel] * a[k])
            T.copy(b, y[bx * threads * each])

    return main
