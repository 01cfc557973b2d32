# random kernel 58
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((16, 30,), "float16"), A1: T.Tensor((32, 13,), "float16"), A2: T.Tensor((132,), "bfloat16"), A3: T.Tensor((250, 8,), "float16"), A4: T.Tensor((2, 17,), "float16"), A5: T.Tensor((264,), "bfloat16"), A6: T.Tensor((47, 40,), "float16"), A7: T.Tensor((245, 9,), "bfloat16"), A8: T.Tensor((134, 30,), "float16"), A9: T.Tensor((40, 51,), "bfloat16"), A10: T.Tensor((9, 32,), "float16"), A11: T.Tensor((128,), "bfloat16"), A12: T.Tensor((10,), "float32"), A13: T.Tensor((32,), "float32"), A14: T.Tensor((195, 8,), "float16"), A15: T.Tensor((8, 16,), "float16"), A16: T.Tensor((62, 1,), "float32"), A17: T.Tensor((256,), "bfloat16"), A18: T.Tensor((244,), "float32"), A19: T.Tensor((8, 9,), "float16"), A20: T.Tensor((8, 11,), "float16"), A21: T.Tensor((21, 192,), "float16"), A22: T.Tensor((242, 16,), "float32")):
    with T.Kernel(1, threads=384) as bx:
        s0 = T.alloc_shared((134, 30,), "float16")
        f1 = T.alloc_fragment((40, 51,), "bfloat16")
        f2 = T.alloc_fragment((32, 32,), "float16")
        s3 = T.alloc_shared((128,), "bfloat16")
        f4 = T.alloc_fragment((32,), "float32")
        s5 = T.alloc_shared((32,), "float32")
        s6 = T.alloc_shared((250, 8,), "float16")
        s7 = T.alloc_shared((8, 16,), "float16")
        f8 = T.alloc_fragment((250, 16,), "float32")
        s9 = T.alloc_shared((256,), "bfloat16")
        f10 = T.alloc_fragment((256,), "float32")
        s11 = T.alloc_shared((8, 16,), "float16")
        s12 = T.alloc_shared((48, 40,), "float16")
        f13 = T.alloc_fragment((21, 192,), "float16")
        f14 = T.alloc_fragment((242, 16,), "float32")
        T.copy(A0[2, 0], s0)
        for k1 in T.serial(2):
            for i, j in T.Parallel(134, 30):
                s0[i, j] = T.cast(T.cast(s0[i, j], "float32") * 0.5, "float16")
        T.fill(f1, 2)
        with T.ws(2):
            T.copy(A1[0, 0], f2)
            T.copy(A2[1], s3)
            T.reduce_sum(f2, f4, dim=1)
            T.reduce_sum(f2, s5, dim=0)
            T.copy(A3[0, 0], s6)
            T.copy(A4[0, 1], s7)
            T.clear(f8)
            T.gemm(s6, s7, f8)
        with T.ws(1):
            T.copy(A5[4], s9)
            for i in T.Parallel(256):
                f10[i] = T.cast(T.cast(s9[i], "float32") * -0.5, "float32")
        for k2 in T.serial(3):
            for i, j in T.Parallel(8, 16):
                if i % 2 == 0:
                    s7[i, j] = T.cast(T.min(T.cast(s7[i, j], "float32") * 0.5 + T.cast(s0[(i) % 134, (j) % 30], "float32") * 0.5, T.cast(s3[(i) % 128], "float32")), "float16")
            for k3 in T.unroll(2):
                T.fill(f1, -2)
                for i, j in T.Parallel(40, 51):
                    f1[i, j] = T.cast(T.min(T.cast(k3, "float32") * 1.0, T.cast(s0[(i) % 134, (j) % 30], "float32")) - T.cast(s5[(i) % 32], "float32") * 0.25, "bfloat16")
                T.clear(s9)
        T.cummax(s7, s11, dim=0)
        with T.ws(0):
            T.copy(A6[0, 0], s12)
            T.fill(f13, -1)
            T.copy(A7[3, 0], f14)
        T.copy(s0, A8[0, 0])
        T.copy(f1, A9[0, 0])
        T.copy(f2, A10[0, 0])
        T.copy(s3, A11[0])
        T.copy(f4, A12[0])
        T.copy(s5, A13[0])
        T.copy(s6, A14[0, 0])
        T.copy(s7, A15[0, 0])
        T.copy(f8, A16[0, 0])
        T.copy(s9, A17[0])
        T.copy(f10, A18[0])
        T.copy(s11, A19[0, 0])
        T.copy(s12, A20[0, 0])
        T.copy(f13, A21[0, 0])
        T.copy(f14, A22[0, 0])
