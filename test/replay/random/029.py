# random kernel 29
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((205, 8,), "float16"), A1: T.Tensor((308, 27,), "bfloat16"), A2: T.Tensor((80, 70,), "float32"), A3: T.Tensor((28, 35,), "float32"), A4: T.Tensor((2, 3,), "float16"), A5: T.Tensor((32, 44,), "float16"), A6: T.Tensor((84, 96,), "float16"), A7: T.Tensor((96, 8,), "float32"), A8: T.Tensor((24, 13,), "float32"), A9: T.Tensor((128, 17,), "float32"), A10: T.Tensor((128, 68,), "bfloat16"), A11: T.Tensor((192, 5,), "float16"), A12: T.Tensor((192,), "float16"), A13: T.Tensor((254, 26,), "bfloat16"), A14: T.Tensor((52, 154,), "bfloat16"), A15: T.Tensor((308,), "float32"), A16: T.Tensor((80, 70,), "float32"), A17: T.Tensor((32, 32,), "float32"), A18: T.Tensor((2, 16,), "float16"), A19: T.Tensor((32, 130,), "float16"), A20: T.Tensor((2, 130,), "float32"), A21: T.Tensor((67, 96,), "float16"), A22: T.Tensor((384, 21,), "float32"), A23: T.Tensor((79, 8,), "float32"), A24: T.Tensor((24, 64,), "float32"), A25: T.Tensor((99, 12,), "float32"), A26: T.Tensor((128, 64,), "float32"), A27: T.Tensor((32, 243,), "float32"), A28: T.Tensor((125, 35,), "bfloat16")):
    with T.Kernel(2, threads=320) as bx:
        f0 = T.alloc_fragment((96, 8,), "float16")
        s1 = T.alloc_shared((96,), "float16")
        s2 = T.alloc_shared((154, 26,), "bfloat16")
        s3 = T.alloc_shared((26, 154,), "bfloat16")
        s4 = T.alloc_shared((154,), "float32")
        s5 = T.alloc_shared((40, 70,), "float32")
        s6 = T.alloc_shared((16, 32,), "float32")
        s7 = T.alloc_shared((1, 16,), "float16")
        s8 = T.alloc_shared((16, 130,), "float16")
        f9 = T.alloc_fragment((1, 130,), "float32")
        f10 = T.alloc_fragment((42, 96,), "float16")
        f11 = T.alloc_fragment((192, 21,), "float32")
        f12 = T.alloc_fragment((48, 8,), "float32")
        s13 = T.alloc_shared((12, 64,), "float32")
        s14 = T.alloc_shared((64, 12,), "float32")
        f15 = T.alloc_fragment((64, 64,), "float32")
        f16 = T.alloc_fragment((16, 243,), "float32")
        f17 = T.alloc_fragment((64, 64,), "bfloat16")
        T.copy(A0[bx * 96 + 4, 0], f0)
        T.reduce_absmax(f0, s1, dim=1)
        with T.ws(1):
            T.copy(A1[bx * 154, 0], s2)
            T.transpose(s2, s3)
            T.reduce_sum(s2, s4, dim=1)
            T.copy(A2[bx * 40, 0], s5)
            T.copy(A3[bx * 16 + 1, 0], s6)
        T.copy(A4[bx * 1, 0], s7)
        T.copy(A5[bx * 16, 2], s8)
        T.clear(f9)
        T.gemm(s7, s8, f9, policy=T.GemmWarpPolicy.Square)
        with T.ws(0):
            T.copy(A6[bx * 42, 0], f10)
            T.clear(f11)
            T.copy(A7[bx * 48, 0], f12)
            T.copy(A8[bx * 12, 0], s13)
            T.copy(A9[bx * 64, 0], s14)
            T.clear(f15)
            T.gemm(s13, s14, f15, transpose_A=True, transpose_B=True, policy=T.GemmWarpPolicy.FullCol)
        for i, j in T.Parallel(16, 243):
            f16[i, j] = T.cast(T.cast(s4[(i) % 154], "float32") * 0.5, "float32")
        T.copy(A10[bx * 64, 4], f17)
        T.cumsum(s8, dim=0)
        for k1 in T.serial(2):
            for i, j in T.Parallel(40, 70):
                if j < 18:
                    s5[i, j] = T.cast(T.if_then_else(j < 66, T.cast(s1[(i) % 96], "float32") * 1.0, T.cast(1, "float32")), "float32")
        T.copy(f0, A11[bx * 96, 0])
        T.copy(s1, A12[bx * 96])
        T.copy(s2, A13[bx * 154, 0])
        T.copy(s3, A14[bx * 26, 0])
        T.copy(s4, A15[bx * 154])
        T.copy(s5, A16[bx * 40, 0])
        T.copy(s6, A17[bx * 16, 0])
        T.copy(s7, A18[bx * 1, 0])
        T.copy(s8, A19[bx * 16, 0])
        T.copy(f9, A20[bx * 1, 0])
        T.copy(f10, A21[bx * 42, 0])
        T.copy(f11, A22[bx * 192, 0])
        T.copy(f12, A23[bx * 48, 0])
        T.copy(s13, A24[bx * 12, 0])
        T.copy(s14, A25[bx * 64, 0])
        T.copy(f15, A26[bx * 64, 0])
        T.copy(f16, A27[bx * 16, 0])
        T.copy(f17, A28[bx * 64, 0])
