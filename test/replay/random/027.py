# random kernel 27
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((118, 32,), "bfloat16"), A1: T.Tensor((320, 8,), "float16"), A2: T.Tensor((384,), "float16"), A3: T.Tensor((16, 32,), "float32"), A4: T.Tensor((64, 111,), "float32"), A5: T.Tensor((135, 35,), "float32"), A6: T.Tensor((72, 32,), "bfloat16"), A7: T.Tensor((93, 32,), "float32"), A8: T.Tensor((64, 22,), "bfloat16"), A9: T.Tensor((128,), "bfloat16"), A10: T.Tensor((320, 16,), "float16"), A11: T.Tensor((25,), "float32"), A12: T.Tensor((333,), "float16"), A13: T.Tensor((16, 32,), "float32"), A14: T.Tensor((64, 111,), "float32"), A15: T.Tensor((16, 10,), "float32"), A16: T.Tensor((128, 1,), "bfloat16")):
    with T.Kernel(2, threads=320) as bx:
        s0 = T.alloc_shared((64, 32,), "bfloat16")
        s1 = T.alloc_shared((64, 32,), "float32")
        s2 = T.alloc_shared((32, 64,), "bfloat16")
        s3 = T.alloc_shared((64,), "bfloat16")
        f4 = T.alloc_fragment((160, 16,), "float16")
        f5 = T.alloc_fragment((16,), "float32")
        s6 = T.alloc_shared((192,), "float16")
        s7 = T.alloc_shared((8, 32,), "float32")
        s8 = T.alloc_shared((32, 111,), "float32")
        f9 = T.alloc_fragment((8, 111,), "float32")
        s10 = T.alloc_shared((64, 32,), "bfloat16")
        T.copy(A0[bx * 64, 0], s0)
        for i, j in T.Parallel(64, 32):
            s1[i, j] = T.cast(T.cast(s0[i, j], "float32") * 0.5, "float32")
        T.transpose(s0, s2)
        T.reduce_min(s0, s3, dim=1)
        with T.ws(0):
            T.copy(A1[bx * 160, 0], f4)
            T.reduce_abssum(f4, f5, dim=0)
        T.copy(A2[bx * 192], s6)
        T.copy(A3[bx * 8, 0], s7)
        T.copy(A4[bx * 32, 0], s8)
        T.clear(f9)
        T.gemm(s7, s8, f9)
        if bx == 0:
            if bx == 0:
                T.copy(A5[bx * 64, 0], s1)
            for i, j in T.Parallel(32, 111):
                s8[i, j] = T.cast(T.cast(0, "float32") * 0.5 - T.cast(s6[(i) % 192], "float32") * 0.25, "float32")
        T.copy(s0, s10)
        T.copy(s0, A6[bx * 64, 0])
        T.copy(s1, A7[bx * 64, 0])
        T.copy(s2, A8[bx * 32, 0])
        T.copy(s3, A9[bx * 64])
        T.copy(f4, A10[bx * 160, 0])
        T.copy(f5, A11[bx * 16])
        T.copy(s6, A12[bx * 192])
        T.copy(s7, A13[bx * 8, 0])
        T.copy(s8, A14[bx * 32, 0])
        T.copy(f9, A15[bx * 8, 0])
        T.copy(s10, A16[bx * 64, 0])
