# random kernel 9
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((45, 160,), "float32"), A1: T.Tensor((49, 163,), "float32"), A2: T.Tensor((64, 13,), "float16"), A3: T.Tensor((261,), "bfloat16"), A4: T.Tensor((303, 24,), "float16"), A5: T.Tensor((28, 62,), "float32"), A6: T.Tensor((45, 90,), "float32"), A7: T.Tensor((256,), "bfloat16"), A8: T.Tensor((64, 58,), "float16"), A9: T.Tensor((64, 128,), "float32"), A10: T.Tensor((50, 160,), "float32"), A11: T.Tensor((50,), "float32"), A12: T.Tensor((186, 10,), "float16")):
    with T.Kernel(2, threads=96) as bx:
        s0 = T.alloc_shared((25, 160,), "float32")
        s1 = T.alloc_shared((25, 160,), "float32")
        s2 = T.alloc_shared((128,), "bfloat16")
        s3 = T.alloc_shared((32, 128,), "float16")
        f4 = T.alloc_fragment((32, 128,), "float32")
        f5 = T.alloc_fragment((25, 160,), "float32")
        f6 = T.alloc_fragment((25,), "float32")
        f7 = T.alloc_fragment((151, 27,), "float16")
        T.copy(A0[bx * 25, 0], s0)
        if bx == 0:
            for i, j in T.Parallel(25, 160):
                s0[i, j] = T.cast(T.min(T.cast(s0[i, j], "float32") * 1.0, T.cast(s0[i, j], "float32")), "float32")
            T.copy(A1[bx * 25, 2], s0)
        for i, j in T.Parallel(25, 160):
            s1[i, j] = T.cast(T.max(T.min(T.cast(s0[i, j], "float32") * -0.5, T.cast(s0[i, j], "float32")), T.cast(s0[i, j], "float32")), "float32")
        T.fill(s2, 2)
        T.clear(f4)
        for p1 in T.Pipelined(1, num_stages=0):
            T.copy(A2[bx * 32, 0], s3)
            for i, j in T.Parallel(32, 128):
                f4[i, j] += T.cast(s3[i, j], "float32")
            for k2 in T.serial(3):
                for i in T.Parallel(128):
                    s2[i] = T.cast(T.cast(s3[(i) % 32, (i) % 128], "float32") * 0.25, "bfloat16")
                T.copy(A3[bx * 128 + p1 * 128 + 5], s2)
        T.copy(s0, f5)
        T.reduce_min(f5, f6, dim=1)
        for i, j in T.Parallel(25, 160):
            if i < 19:
                s0[i, j] = T.cast(T.cast(f6[i], "float32") * 0.25, "float32")
        T.copy(A4[bx * 151, 0], f7)
        T.copy(s0, A5[bx * 25, 0])
        T.copy(s1, A6[bx * 25, 0])
        T.copy(s2, A7[bx * 128])
        T.copy(s3, A8[bx * 32, 0])
        T.copy(f4, A9[bx * 32, 0])
        T.copy(f5, A10[bx * 25, 0])
        T.copy(f6, A11[bx * 25])
        T.copy(f7, A12[bx * 151, 0])
