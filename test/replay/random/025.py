# random kernel 25
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((25, 167,), "float32"), A1: T.Tensor((236, 4,), "bfloat16"), A2: T.Tensor((12, 17,), "bfloat16"), A3: T.Tensor((48, 18,), "float32"), A4: T.Tensor((8, 16,), "float32"), A5: T.Tensor((25, 160,), "float32"), A6: T.Tensor((17, 25,), "float32"), A7: T.Tensor((55, 12,), "bfloat16"), A8: T.Tensor((12, 17,), "bfloat16"), A9: T.Tensor((236, 17,), "float32"), A10: T.Tensor((9, 1,), "bfloat16"), A11: T.Tensor((48, 3,), "float32"), A12: T.Tensor((8, 8,), "float32"), A13: T.Tensor((2, 8,), "float32")):
    with T.Kernel(1, threads=160) as bx:
        s0 = T.alloc_shared((25, 160,), "float32")
        s1 = T.alloc_shared((160, 25,), "float32")
        s2 = T.alloc_shared((236, 12,), "bfloat16")
        s3 = T.alloc_shared((12, 17,), "bfloat16")
        f4 = T.alloc_fragment((236, 17,), "float32")
        s5 = T.alloc_shared((17, 12,), "bfloat16")
        s6 = T.alloc_shared((48, 8,), "float32")
        s7 = T.alloc_shared((8, 8,), "float32")
        f8 = T.alloc_fragment((48, 8,), "float32")
        T.copy(A0[0, 0], s0)
        T.transpose(s0, s1)
        T.transpose(s1, s0)
        T.copy(A1[0, 0], s2)
        T.copy(A2[0, 0], s3)
        T.gemm(s2, s3, f4, clear_accum=True)
        T.transpose(s3, s5)
        for i, j in T.Parallel(160, 25):
            s1[i, j] = T.cast(T.cast(s1[i, j], "float32") * 1.0, "float32")
        for k1 in T.unroll(3):
            for i, j in T.Parallel(236, 12):
                if i < 69:
                    s2[i, j] = T.cast(T.max(T.cast(s2[i, j], "float32") * 0.5, T.cast(s2[i, j], "float32")), "bfloat16")
            T.cummax(s0, dim=0)
        T.clear(f8)
        for p2 in T.Pipelined(2, num_stages=4):
            T.copy(A3[0, p2 * 8], s6)
            T.copy(A4[0, p2 * 8], s7)
            T.gemm(s6, s7, f8)
            for i, j in T.Parallel(236, 17):
                f4[i, j] = T.cast(T.max(T.cast(p2, "float32") * 0.25, T.cast(p2, "float32")), "float32")
        T.copy(f8, s6)
        T.copy(s0, A5[0, 0])
        T.copy(s1, A6[0, 0])
        T.copy(s2, A7[0, 0])
        T.copy(s3, A8[0, 0])
        T.copy(f4, A9[0, 0])
        T.copy(s5, A10[0, 0])
        T.copy(s6, A11[0, 0])
        T.copy(s7, A12[0, 0])
        T.copy(f8, A13[0, 0])
