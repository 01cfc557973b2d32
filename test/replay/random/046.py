# random kernel 46
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((144,), "float32"), A1: T.Tensor((36, 128,), "float32"), A2: T.Tensor((35, 21,), "float32"), A3: T.Tensor((57,), "float32"), A4: T.Tensor((288, 8,), "bfloat16"), A5: T.Tensor((24, 42,), "bfloat16"), A6: T.Tensor((186, 32,), "bfloat16"), A7: T.Tensor((114,), "float32"), A8: T.Tensor((32, 67,), "float32"), A9: T.Tensor((36, 5,), "float32"), A10: T.Tensor((384, 32,), "float32"), A11: T.Tensor((96,), "float32"), A12: T.Tensor((44,), "float32"), A13: T.Tensor((288, 8,), "bfloat16"), A14: T.Tensor((24, 42,), "bfloat16"), A15: T.Tensor((275, 42,), "float32"), A16: T.Tensor((136, 32,), "bfloat16"), A17: T.Tensor((306, 22,), "float32")):
    with T.Kernel(3, threads=128) as bx:
        s0 = T.alloc_shared((48,), "float32")
        s1 = T.alloc_shared((12, 128,), "float32")
        s2 = T.alloc_shared((12, 32,), "float32")
        f3 = T.alloc_fragment((128, 32,), "float32")
        f4 = T.alloc_fragment((32,), "float32")
        f5 = T.alloc_fragment((16,), "float32")
        s6 = T.alloc_shared((96, 8,), "bfloat16")
        s7 = T.alloc_shared((8, 42,), "bfloat16")
        f8 = T.alloc_fragment((96, 42,), "float32")
        s9 = T.alloc_shared((62, 32,), "bfloat16")
        s10 = T.alloc_shared((102, 40,), "float32")
        T.copy(A0[bx * 48], s0)
        if bx == 0:
            if bx == 0:
                T.fill(s0, 0)
                for i in T.Parallel(48):
                    if i < 22:
                        s0[i] = T.cast(T.cast(s0[i], "float32") * 1.0 - T.cast(s0[i], "float32") * 0.25, "float32")
            T.cumsum(s0, dim=0)
        T.copy(A1[bx * 12, 0], s1)
        T.copy(A2[bx * 12, 0], s2)
        T.clear(f3)
        T.gemm(s1, s2, f3, transpose_A=True, policy=T.GemmWarpPolicy.FullCol)
        T.reduce_absmax(f3, f4, dim=0)
        T.copy(A3[bx * 16], f5)
        T.copy(A4[bx * 96, 0], s6)
        T.copy(A5[bx * 8, 0], s7)
        T.clear(f8)
        T.gemm(s6, s7, f8, policy=T.GemmWarpPolicy.Square)
        T.copy(A6[bx * 62, 0], s9)
        T.clear(s10)
        T.copy(s0, A7[bx * 48])
        T.copy(s1, A8[bx * 12, 0])
        T.copy(s2, A9[bx * 12, 0])
        T.copy(f3, A10[bx * 128, 0])
        T.copy(f4, A11[bx * 32])
        T.copy(f5, A12[bx * 16])
        T.copy(s6, A13[bx * 96, 0])
        T.copy(s7, A14[bx * 8, 0])
        T.copy(f8, A15[bx * 96, 0])
        T.copy(s9, A16[bx * 62, 0])
        T.copy(s10, A17[bx * 102, 0])
