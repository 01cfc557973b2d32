# random kernel 6
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((200, 17,), "bfloat16"), A1: T.Tensor((10, 158,), "float16"), A2: T.Tensor((192, 8,), "bfloat16"), A3: T.Tensor((16, 150,), "float16"), A4: T.Tensor((129, 16,), "float16"), A5: T.Tensor((150, 16,), "bfloat16"), A6: T.Tensor((150,), "float16"), A7: T.Tensor((150, 9,), "bfloat16"), A8: T.Tensor((15,), "float32"), A9: T.Tensor((48, 32,), "bfloat16")):
    with T.Kernel(1, threads=256) as bx:
        s0 = T.alloc_shared((192, 8,), "bfloat16")
        s1 = T.alloc_shared((16, 150,), "float16")
        s2 = T.alloc_shared((150, 16,), "float16")
        s3 = T.alloc_shared((150, 16,), "bfloat16")
        s4 = T.alloc_shared((150,), "float16")
        f5 = T.alloc_fragment((150, 16,), "bfloat16")
        s6 = T.alloc_shared((16,), "float32")
        s7 = T.alloc_shared((48, 32,), "bfloat16")
        T.copy(A0[0, 0], s0)
        with T.ws(1):
            T.copy(A1[0, 0], s1)
            T.transpose(s1, s2)
        for i, j in T.Parallel(150, 16):
            s3[i, j] = T.cast(T.cast(s2[i, j], "float32") * 1.0, "bfloat16")
        T.reduce_min(s1, s4, dim=0)
        for k1 in range(1):
            for i in T.Parallel(150):
                s4[i] = T.cast(T.min(T.max(T.cast(s2[i, 11], "float32") * -0.5, T.cast(s3[i, 12], "float32")), T.cast(s2[i, 4], "float32")), "float16")
            if k1 == 0:
                for i, j in T.Parallel(150, 16):
                    s3[i, j] = T.cast(T.cast(s1[(i) % 16, (j) % 150], "float32") * 0.5 + T.cast(s4[i], "float32") * 0.5, "bfloat16")
                for k2 in T.unroll(2):
                    T.reduce_min(s2, s4, dim=1, clear=False)
                    T.clear(s4)
            T.cummax(s2, dim=1)
        for i, j in T.Parallel(150, 16):
            f5[i, j] = T.cast(T.cast(s1[(i) % 16, (j) % 150], "float32") * 0.5, "bfloat16")
        T.reduce_sum(s3, s6, dim=0)
        for i, j in T.Parallel(48, 32):
            s7[i, j] = T.cast(T.cast(s2[(i) % 150, (j) % 16], "float32") * -0.5 - T.cast(s4[(i) % 150], "float32") * 0.25 - T.cast(-1, "float32") * 0.25, "bfloat16")
        T.copy(s0, A2[0, 0])
        T.copy(s1, A3[0, 0])
        T.copy(s2, A4[0, 0])
        T.copy(s3, A5[0, 0])
        T.copy(s4, A6[0])
        T.copy(f5, A7[0, 0])
        T.copy(s6, A8[0])
        T.copy(s7, A9[0, 0])
