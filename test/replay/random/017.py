# random kernel 17
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((18, 266,), "bfloat16"), A1: T.Tensor((512, 15,), "float32"), A2: T.Tensor((15, 19,), "float32"), A3: T.Tensor((320, 8,), "float16"), A4: T.Tensor((23, 25,), "bfloat16"), A5: T.Tensor((16, 256,), "bfloat16"), A6: T.Tensor((512, 11,), "float32"), A7: T.Tensor((24, 16,), "float32"), A8: T.Tensor((474, 14,), "float32"), A9: T.Tensor((512, 12,), "float32"), A10: T.Tensor((320, 8,), "float16"), A11: T.Tensor((9, 25,), "float16"), A12: T.Tensor((264, 12,), "float32")):
    with T.Kernel(2, threads=320) as bx:
        f0 = T.alloc_fragment((8, 256,), "bfloat16")
        s1 = T.alloc_shared((256, 12,), "float32")
        s2 = T.alloc_shared((12, 16,), "float32")
        f3 = T.alloc_fragment((256, 16,), "float32")
        f4 = T.alloc_fragment((256, 12,), "float32")
        s5 = T.alloc_shared((160, 8,), "float16")
        s6 = T.alloc_shared((8, 25,), "float16")
        f7 = T.alloc_fragment((160, 25,), "float32")
        T.copy(A0[bx * 8, 2], f0)
        T.copy(A1[bx * 256, 3], s1)
        T.copy(A2[bx * 12, 0], s2)
        T.gemm(s1, s2, f3, clear_accum=True)
        T.copy(s1, f4)
        T.copy(A3[bx * 160, 0], s5)
        T.copy(A4[bx * 8, 0], s6)
        T.gemm(s5, s6, f7, clear_accum=True, policy=T.GemmWarpPolicy.FullCol)
        T.copy(f0, A5[bx * 8, 0])
        T.copy(s1, A6[bx * 256, 0])
        T.copy(s2, A7[bx * 12, 0])
        T.copy(f3, A8[bx * 256, 0])
        T.copy(f4, A9[bx * 256, 0])
        T.copy(s5, A10[bx * 160, 0])
        T.copy(s6, A11[bx * 8, 0])
        T.copy(f7, A12[bx * 160, 0])
