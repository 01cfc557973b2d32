# random kernel 8
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((18, 100,), "bfloat16"), A1: T.Tensor((75, 160,), "bfloat16"), A2: T.Tensor((255, 48,), "bfloat16"), A3: T.Tensor((255, 25,), "bfloat16"), A4: T.Tensor((21, 96,), "bfloat16"), A5: T.Tensor((75, 8,), "bfloat16"), A6: T.Tensor((255, 48,), "bfloat16"), A7: T.Tensor((576,), "float16"), A8: T.Tensor((651, 13,), "float16"), A9: T.Tensor((576,), "float16")):
    with T.Kernel(3, threads=256) as bx:
        s0 = T.alloc_shared((8, 96,), "bfloat16")
        f1 = T.alloc_fragment((25, 160,), "bfloat16")
        s2 = T.alloc_shared((85, 48,), "bfloat16")
        s3 = T.alloc_shared((192,), "float16")
        f4 = T.alloc_fragment((224, 18,), "float16")
        f5 = T.alloc_fragment((192,), "float16")
        T.copy(A0[bx * 8, 0], s0)
        for i, j in T.Parallel(8, 96):
            s0[i, j] = T.cast(T.if_then_else(i < 5, T.cast(s0[i, j], "float32") * -0.5, T.cast(1, "float32")), "bfloat16")
        T.cumsum(s0, dim=0)
        T.copy(A1[bx * 25, 0], f1)
        with T.ws(1):
            T.copy(A2[bx * 85, 0], s2)
            T.clear(s3)
            for i, j in T.Parallel(224, 18):
                f4[i, j] = T.cast(T.cast(s3[(i) % 192], "float32") * 0.5 + T.cast(s2[(i) % 85, (j) % 48], "float32") * 0.5, "float16")
            for k1 in T.serial(2):
                T.copy(A3[bx * 85, 0], s2)
                for i, j in T.Parallel(85, 48):
                    s2[i, j] = T.cast(T.max(T.max(T.cast(s3[(i) % 192], "float32") * 0.25, T.cast(s2[i, j], "float32")), T.cast(s3[(i) % 192], "float32")), "bfloat16")
                for i in T.Parallel(192):
                    if bx * 192 + i < 388:
                        s3[i] = T.cast(T.cast(s3[i], "float32") * 1.0, "float16")
            for i in T.Parallel(192):
                f5[i] = T.cast(T.cast(s3[i], "float32") * 1.0 + T.cast(s3[191 - i], "float32") * 0.5 + T.cast(s3[i], "float32") * 0.5, "float16")
        T.cummax(f1, dim=1, reverse=True)
        T.copy(s0, A4[bx * 8, 0])
        T.copy(f1, A5[bx * 25, 0])
        T.copy(s2, A6[bx * 85, 0])
        T.copy(s3, A7[bx * 192])
        T.copy(f4, A8[bx * 224, 0])
        T.copy(f5, A9[bx * 192])
