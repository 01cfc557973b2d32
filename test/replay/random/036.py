# random kernel 36
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((16, 54,), "float32"), A1: T.Tensor((16, 256,), "float16"), A2: T.Tensor((16, 256,), "float32"), A3: T.Tensor((16,), "float32"), A4: T.Tensor((254, 16,), "bfloat16"), A5: T.Tensor((16,), "bfloat16"), A6: T.Tensor((16,), "float16"), A7: T.Tensor((254,), "bfloat16"), A8: T.Tensor((16, 256,), "float16")):
    with T.Kernel(1, threads=320) as bx:
        s0 = T.alloc_shared((16, 256,), "float32")
        f1 = T.alloc_fragment((16,), "float32")
        f2 = T.alloc_fragment((254, 16,), "bfloat16")
        f3 = T.alloc_fragment((16,), "bfloat16")
        f4 = T.alloc_fragment((16,), "float16")
        f5 = T.alloc_fragment((254,), "bfloat16")
        s6 = T.alloc_shared((16, 256,), "float16")
        T.copy(A0[0, 0], s0)
        T.reduce_abssum(s0, f1, dim=1)
        T.fill(f2, 3)
        T.reduce_abssum(f2, f3, dim=0)
        T.copy(f1, f4)
        T.reduce_max(f2, f5, dim=1)
        T.copy(A1[0, 0], s6)
        T.copy(s0, A2[0, 0])
        T.copy(f1, A3[0])
        T.copy(f2, A4[0, 0])
        T.copy(f3, A5[0])
        T.copy(f4, A6[0])
        T.copy(f5, A7[0])
        T.copy(s6, A8[0, 0])
