# random kernel 15
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((192,), "float32"), A1: T.Tensor((48, 39,), "float32"), A2: T.Tensor((32, 32,), "float32"), A3: T.Tensor((40, 12,), "float16"), A4: T.Tensor((146, 25,), "float32"), A5: T.Tensor((2, 32,), "bfloat16"), A6: T.Tensor((33, 38,), "float32"), A7: T.Tensor((174,), "float32"), A8: T.Tensor((20, 32,), "float32"), A9: T.Tensor((32, 32,), "float32"), A10: T.Tensor((48, 6,), "float32"), A11: T.Tensor((48, 23,), "float32"), A12: T.Tensor((42, 96,), "bfloat16"), A13: T.Tensor((11, 48,), "float16"), A14: T.Tensor((160, 25,), "float32"), A15: T.Tensor((2, 32,), "bfloat16"), A16: T.Tensor((24, 32,), "float32"), A17: T.Tensor((6, 32,), "float16")):
    with T.Kernel(1, threads=32) as bx:
        s0 = T.alloc_shared((192,), "float32")
        s1 = T.alloc_shared((48, 32,), "float32")
        s2 = T.alloc_shared((32, 32,), "float32")
        f3 = T.alloc_fragment((48, 32,), "float32")
        s4 = T.alloc_shared((48, 32,), "float32")
        f5 = T.alloc_fragment((42, 96,), "bfloat16")
        s6 = T.alloc_shared((40, 48,), "float16")
        s7 = T.alloc_shared((160, 25,), "float32")
        f8 = T.alloc_fragment((2, 32,), "bfloat16")
        s9 = T.alloc_shared((24, 32,), "float32")
        f10 = T.alloc_fragment((48, 32,), "float16")
        T.copy(A0[0], s0)
        T.copy(A1[0, 0], s1)
        T.copy(A2[0, 0], s2)
        T.clear(f3)
        T.gemm(s1, s2, f3)
        for i, j in T.Parallel(48, 32):
            s4[i, j] = T.cast(T.min(T.cast(s0[(i) % 192], "float32") * 0.5, T.cast(s1[i, 31 - j], "float32")), "float32")
        T.clear(f5)
        T.copy(A3[0, 0], s6)
        T.copy(A4[0, 0], s7)
        T.copy(A5[0, 0], f8)
        T.copy(A6[0, 0], s9)
        for i, j in T.Parallel(48, 32):
            f10[i, j] = T.cast(T.cast(s1[i, 31 - j], "float32") * 0.25, "float16")
        T.copy(s0, A7[0])
        T.copy(s1, A8[0, 0])
        T.copy(s2, A9[0, 0])
        T.copy(f3, A10[0, 0])
        T.copy(s4, A11[0, 0])
        T.copy(f5, A12[0, 0])
        T.copy(s6, A13[0, 0])
        T.copy(s7, A14[0, 0])
        T.copy(f8, A15[0, 0])
        T.copy(s9, A16[0, 0])
        T.copy(f10, A17[0, 0])
