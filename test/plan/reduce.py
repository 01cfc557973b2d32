# Reductions and scans are their own loops on the CPU.
# expect: reduce x, y: plain
# expect: scan x, x: plain
# expect: atomic x, A: plain
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((16, 24), "float32"), B: T.Tensor((16,), "float32")):
    with T.Kernel(2, threads=32) as bx:
        x = T.alloc_fragment((16, 24), "float32")
        y = T.alloc_fragment((16,), "float32")

        T.copy(A, x)
        T.reduce_sum(x, y, dim=1)
        T.cumsum(x, dim=1)
        T.atomic_add(A, x)
        T.copy(y, B)
