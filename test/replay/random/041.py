# random kernel 41
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((5, 65,), "bfloat16"), A1: T.Tensor((27,), "bfloat16"), A2: T.Tensor((253, 12,), "bfloat16"), A3: T.Tensor((3, 25,), "bfloat16"), A4: T.Tensor((49, 96,), "float16"), A5: T.Tensor((1, 64,), "bfloat16"), A6: T.Tensor((5, 64,), "bfloat16"), A7: T.Tensor((24,), "bfloat16"), A8: T.Tensor((5, 49,), "bfloat16"), A9: T.Tensor((182, 12,), "bfloat16"), A10: T.Tensor((12, 1,), "bfloat16"), A11: T.Tensor((253, 13,), "float32"), A12: T.Tensor((2, 64,), "bfloat16"), A13: T.Tensor((253, 12,), "bfloat16"), A14: T.Tensor((5, 64,), "bfloat16"), A15: T.Tensor((42, 90,), "float16")):
    with T.Kernel(1, threads=416) as bx:
        s0 = T.alloc_shared((5, 64,), "bfloat16")
        f1 = T.alloc_fragment((5, 64,), "bfloat16")
        s2 = T.alloc_shared((24,), "bfloat16")
        s3 = T.alloc_shared((5, 64,), "bfloat16")
        s4 = T.alloc_shared((253, 12,), "bfloat16")
        s5 = T.alloc_shared((12, 16,), "bfloat16")
        f6 = T.alloc_fragment((253, 16,), "float32")
        f7 = T.alloc_fragment((5, 64,), "bfloat16")
        s8 = T.alloc_shared((253, 12,), "bfloat16")
        s9 = T.alloc_shared((5, 64,), "bfloat16")
        f10 = T.alloc_fragment((42, 96,), "float16")
        T.copy(A0[0, 0], s0)
        T.copy(s0, f1)
        T.copy(A1[3], s2)
        T.copy(s0, s3)
        T.copy(A2[0, 0], s4)
        T.copy(A3[1, 0], s5)
        T.clear(f6)
        T.gemm(s4, s5, f6)
        T.copy(s3, f7)
        for i, j in T.Parallel(253, 12):
            s8[i, j] = T.cast(T.max(T.cast(s4[i, j], "float32") * 0.25, T.cast(s3[(i) % 5, (j) % 64], "float32")), "bfloat16")
        T.cummax(s3, s9, dim=0)
        T.copy(A4[5, 0], f10)
        T.copy(s0, A5[0, 0])
        T.copy(f1, A6[0, 0])
        T.copy(s2, A7[0])
        T.copy(s3, A8[0, 0])
        T.copy(s4, A9[0, 0])
        T.copy(s5, A10[0, 0])
        T.copy(f6, A11[0, 0])
        T.copy(f7, A12[0, 0])
        T.copy(s8, A13[0, 0])
        T.copy(s9, A14[0, 0])
        T.copy(f10, A15[0, 0])
