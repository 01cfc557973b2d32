# random kernel 4
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((40,), "float32"), A1: T.Tensor((134,), "float32"), A2: T.Tensor((68,), "bfloat16"), A3: T.Tensor((14, 153,), "bfloat16"), A4: T.Tensor((27, 9,), "bfloat16"), A5: T.Tensor((20,), "float32"), A6: T.Tensor((105,), "float32"), A7: T.Tensor((15,), "float16"), A8: T.Tensor((134,), "float32"), A9: T.Tensor((134,), "float16"), A10: T.Tensor((147,), "float16"), A11: T.Tensor((134,), "float16"), A12: T.Tensor((8, 29,), "bfloat16"), A13: T.Tensor((27, 12,), "bfloat16"), A14: T.Tensor((149, 27,), "float32"), A15: T.Tensor((134,), "float32")):
    with T.Kernel(1, threads=256) as bx:
        s0 = T.alloc_shared((40,), "float32")
        f1 = T.alloc_fragment((134,), "float32")
        s2 = T.alloc_shared((40,), "float16")
        s3 = T.alloc_shared((134,), "float32")
        f4 = T.alloc_fragment((134,), "float16")
        f5 = T.alloc_fragment((147,), "float16")
        f6 = T.alloc_fragment((134,), "float16")
        s7 = T.alloc_shared((12, 149,), "bfloat16")
        s8 = T.alloc_shared((27, 12,), "bfloat16")
        f9 = T.alloc_fragment((149, 27,), "float32")
        s10 = T.alloc_shared((134,), "float32")
        T.copy(A0[0], s0)
        T.copy(A1[0], f1)
        for i in T.Parallel(40):
            s2[i] = T.cast(T.if_then_else(i % 2 == 0, T.cast(s0[i], "float32") * 1.0 - T.cast(s0[39 - i], "float32") * 0.25 + T.cast(s0[39 - i], "float32") * 0.5, T.cast(-1, "float32")), "float16")
        T.copy(f1, s3)
        T.copy(f1, f4)
        T.copy(A2[3], f5)
        for i in T.Parallel(134):
            f6[i] = T.cast(T.cast(f1[i], "float32") * 0.5, "float16")
        T.copy(A3[0, 4], s7)
        T.copy(A4[0, 0], s8)
        T.gemm(s7, s8, f9, transpose_A=True, transpose_B=True, clear_accum=True)
        for i in T.Parallel(134):
            s10[i] = T.cast(T.min(T.cast(f4[133 - i], "float32") * 1.0, T.cast(s3[i], "float32")), "float32")
        T.copy(s0, A5[0])
        T.copy(f1, A6[0])
        T.copy(s2, A7[0])
        T.copy(s3, A8[0])
        T.copy(f4, A9[0])
        T.copy(f5, A10[0])
        T.copy(f6, A11[0])
        T.copy(s7, A12[0, 0])
        T.copy(s8, A13[0, 0])
        T.copy(f9, A14[0, 0])
        T.copy(s10, A15[0])
