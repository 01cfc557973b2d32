# random kernel 45
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((306, 31,), "float32"), A1: T.Tensor((497,), "bfloat16"), A2: T.Tensor((237, 40,), "float32"), A3: T.Tensor((120,), "float32"), A4: T.Tensor((489,), "float32"), A5: T.Tensor((487,), "float32"), A6: T.Tensor((480, 25,), "float32"), A7: T.Tensor((306,), "float32")):
    with T.Kernel(3, threads=160) as bx:
        s0 = T.alloc_shared((102, 40,), "float32")
        f1 = T.alloc_fragment((40,), "float32")
        f2 = T.alloc_fragment((163,), "float32")
        f3 = T.alloc_fragment((163,), "float32")
        f4 = T.alloc_fragment((160, 25,), "float32")
        s5 = T.alloc_shared((102,), "float32")
        T.copy(A0[bx * 102, 0], s0)
        T.fill(f1, -1)
        T.copy(A1[bx * 163], f2)
        T.copy(f2, f3)
        T.clear(f4)
        T.reduce_abssum(s0, s5, dim=1)
        T.copy(s0, A2[bx * 102, 0])
        T.copy(f1, A3[bx * 40])
        T.copy(f2, A4[bx * 163])
        T.copy(f3, A5[bx * 163])
        T.copy(f4, A6[bx * 160, 0])
        T.copy(s5, A7[bx * 102])
