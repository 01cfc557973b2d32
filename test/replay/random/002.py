# random kernel 2
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((87, 32,), "bfloat16"), A1: T.Tensor((82, 64,), "bfloat16"), A2: T.Tensor((18, 16,), "float32"), A3: T.Tensor((8, 109,), "bfloat16"), A4: T.Tensor((4, 28,), "bfloat16"), A5: T.Tensor((7, 32,), "bfloat16"), A6: T.Tensor((82, 32,), "float16"), A7: T.Tensor((16, 16,), "float32"), A8: T.Tensor((7, 108,), "bfloat16"), A9: T.Tensor((8, 37,), "bfloat16"), A10: T.Tensor((108, 37,), "float32")):
    with T.Kernel(1, threads=192) as bx:
        f0 = T.alloc_fragment((82, 32,), "bfloat16")
        s1 = T.alloc_shared((82, 32,), "float16")
        s2 = T.alloc_shared((16, 16,), "float32")
        s3 = T.alloc_shared((8, 108,), "bfloat16")
        s4 = T.alloc_shared((8, 37,), "bfloat16")
        f5 = T.alloc_fragment((108, 37,), "float32")
        T.copy(A0[0, 0], f0)
        for k1 in T.serial(2):
            T.clear(f0)
            if k1 == 2:
                for i, j in T.Parallel(82, 32):
                    f0[i, j] = T.cast(T.cast(f0[i, j], "float32") * 1.0 - T.cast(f0[i, j], "float32") * 0.25 - T.cast(f0[i, j], "float32") * 0.25, "bfloat16")
                for k2 in T.serial(3):
                    for i, j in T.Parallel(82, 32):
                        if j < 15:
                            f0[i, j] = T.cast(T.cast(f0[i, j], "float32") * 0.5, "bfloat16")
                    for i, j in T.Parallel(82, 32):
                        f0[i, j] = T.cast(T.cast(f0[i, j], "float32") * 0.5 - T.cast(f0[i, j], "float32") * 0.25, "bfloat16")
                    T.copy(A1[0, k1 * 32], f0)
            T.fill(f0, 1)
        for i, j in T.Parallel(82, 32):
            s1[i, j] = T.cast(T.cast(f0[i, j], "float32") * -0.5 + T.cast(f0[i, j], "float32") * 0.5, "float16")
        T.copy(A2[2, 0], s2)
        T.copy(A3[0, 1], s3)
        T.copy(A4[0, 3], s4)
        T.clear(f5)
        T.gemm(s3, s4, f5, transpose_A=True)
        T.copy(f0, A5[0, 0])
        T.copy(s1, A6[0, 0])
        T.copy(s2, A7[0, 0])
        T.copy(s3, A8[0, 0])
        T.copy(s4, A9[0, 0])
        T.copy(f5, A10[0, 0])
