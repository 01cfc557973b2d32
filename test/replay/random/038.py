# random kernel 38
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((264,), "float16"), A1: T.Tensor((296, 12,), "float16"), A2: T.Tensor((36, 52,), "float32"), A3: T.Tensor((24,), "float32"), A4: T.Tensor((231, 30,), "float32"), A5: T.Tensor((683, 14,), "float32"), A6: T.Tensor((40, 18,), "float32"), A7: T.Tensor((734, 16,), "float32"), A8: T.Tensor((214,), "float16"), A9: T.Tensor((181,), "float32"), A10: T.Tensor((288, 12,), "bfloat16"), A11: T.Tensor((36, 42,), "bfloat16"), A12: T.Tensor((288, 42,), "float32"), A13: T.Tensor((20,), "float32"), A14: T.Tensor((321, 24,), "float32"), A15: T.Tensor((678, 12,), "float32"), A16: T.Tensor((36, 18,), "float32"), A17: T.Tensor((678, 18,), "float32"), A18: T.Tensor((247,), "float32"), A19: T.Tensor((36, 96,), "bfloat16"), A20: T.Tensor((698, 16,), "float32"), A21: T.Tensor((657,), "float32")):
    with T.Kernel(3, threads=384) as bx:
        f0 = T.alloc_fragment((88,), "float16")
        f1 = T.alloc_fragment((88,), "float32")
        s2 = T.alloc_shared((96, 12,), "bfloat16")
        s3 = T.alloc_shared((12, 42,), "bfloat16")
        f4 = T.alloc_fragment((96, 42,), "float32")
        s5 = T.alloc_shared((8,), "float32")
        s6 = T.alloc_shared((107, 24,), "float32")
        s7 = T.alloc_shared((226, 12,), "float32")
        s8 = T.alloc_shared((12, 18,), "float32")
        f9 = T.alloc_fragment((226, 18,), "float32")
        s10 = T.alloc_shared((88,), "float32")
        s11 = T.alloc_shared((12, 96,), "bfloat16")
        f12 = T.alloc_fragment((256, 16,), "float32")
        f13 = T.alloc_fragment((219,), "float32")
        T.copy(A0[bx * 88], f0)
        for i in T.Parallel(88):
            f1[i] = T.cast(T.max(T.max(T.cast(f0[87 - i], "float32") * -0.5, T.cast(f0[87 - i], "float32")), T.cast(f0[87 - i], "float32")), "float32")
        T.copy(A1[bx * 96, 0], s2)
        T.copy(A2[bx * 12, 5], s3)
        T.gemm(s2, s3, f4, clear_accum=True)
        with T.ws(0):
            T.copy(A3[bx * 8], s5)
            T.copy(A4[bx * 107, 5], s6)
            T.cumsum(s6, dim=0, reverse=True)
            T.copy(A5[bx * 226 + 5, 0], s7)
            T.copy(A6[bx * 12 + 4, 0], s8)
            T.gemm(s7, s8, f9, clear_accum=True, policy=T.GemmWarpPolicy.FullCol)
        for i in T.Parallel(88):
            s10[i] = T.cast(T.cast(s6[(i) % 107, (i) % 24], "float32") * -0.5 + T.cast(-1, "float32") * 0.5 + T.cast(f1[i], "float32") * 0.5, "float32")
        T.transpose(s2, s11)
        T.copy(A7[bx * 256, 0], f12)
        for i, j in T.Parallel(96, 12):
            s2[i, j] = T.cast(T.max(T.cast(s6[(i) % 107, (j) % 24], "float32") * 0.25, T.cast(-2, "float32")), "bfloat16")
        for i in T.Parallel(219):
            f13[i] = T.cast(T.cast(s10[(i) % 88], "float32") * 1.0, "float32")
        T.copy(f0, A8[bx * 88])
        T.copy(f1, A9[bx * 88])
        T.copy(s2, A10[bx * 96, 0])
        T.copy(s3, A11[bx * 12, 0])
        T.copy(f4, A12[bx * 96, 0])
        T.copy(s5, A13[bx * 8])
        T.copy(s6, A14[bx * 107, 0])
        T.copy(s7, A15[bx * 226, 0])
        T.copy(s8, A16[bx * 12, 0])
        T.copy(f9, A17[bx * 226, 0])
        T.copy(s10, A18[bx * 88])
        T.copy(s11, A19[bx * 12, 0])
        T.copy(f12, A20[bx * 256, 0])
        T.copy(f13, A21[bx * 219])
