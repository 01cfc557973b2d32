# random kernel 52
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((64, 24,), "float16"), A1: T.Tensor((218, 17,), "float16"), A2: T.Tensor((12, 20,), "float32"), A3: T.Tensor((64, 24,), "float16"), A4: T.Tensor((35, 24,), "float16"), A5: T.Tensor((217, 12,), "float16"), A6: T.Tensor((10, 18,), "float16"), A7: T.Tensor((217, 11,), "float32"), A8: T.Tensor((32, 21,), "bfloat16")):
    with T.Kernel(1, threads=512) as bx:
        f0 = T.alloc_fragment((64, 24,), "float16")
        s1 = T.alloc_shared((64, 24,), "float16")
        s2 = T.alloc_shared((217, 12,), "float16")
        s3 = T.alloc_shared((12, 18,), "float16")
        f4 = T.alloc_fragment((217, 18,), "float32")
        s5 = T.alloc_shared((32, 32,), "bfloat16")
        T.copy(A0[0, 0], f0)
        T.copy(f0, s1)
        for i, j in T.Parallel(64, 24):
            if i < 35:
                s1[i, j] = T.cast(T.cast(s1[i, j], "float32") * 1.0, "float16")
        T.copy(A1[1, 5], s2)
        T.copy(A2[0, 2], s3)
        T.clear(f4)
        T.gemm(s2, s3, f4)
        for i, j in T.Parallel(12, 18):
            if i < 12:
                s3[i, j] = T.cast(T.cast(s1[(i) % 64, (j) % 24], "float32") * 0.25 + T.cast(s1[(i) % 64, (j) % 24], "float32") * 0.5 - T.cast(-2, "float32") * 0.25, "float16")
        T.fill(s5, -1)
        T.copy(f0, A3[0, 0])
        T.copy(s1, A4[0, 0])
        T.copy(s2, A5[0, 0])
        T.copy(s3, A6[0, 0])
        T.copy(f4, A7[0, 0])
        T.copy(s5, A8[0, 0])
