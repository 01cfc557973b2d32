# random kernel 53
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((19, 18,), "bfloat16"), A1: T.Tensor((80, 12,), "float32"), A2: T.Tensor((12, 53,), "float32"), A3: T.Tensor((19, 16,), "bfloat16"), A4: T.Tensor((19,), "float32"), A5: T.Tensor((48, 12,), "float32"), A6: T.Tensor((12, 51,), "float32"), A7: T.Tensor((57, 51,), "float32"), A8: T.Tensor((51,), "float32"), A9: T.Tensor((2, 51,), "float16")):
    with T.Kernel(1, threads=256) as bx:
        f0 = T.alloc_fragment((19, 16,), "bfloat16")
        s1 = T.alloc_shared((19,), "float32")
        s2 = T.alloc_shared((80, 12,), "float32")
        s3 = T.alloc_shared((12, 51,), "float32")
        f4 = T.alloc_fragment((80, 51,), "float32")
        f5 = T.alloc_fragment((51,), "float32")
        s6 = T.alloc_shared((12, 51,), "float16")
        T.copy(A0[0, 2], f0)
        T.reduce_sum(f0, s1, dim=1)
        T.copy(A1[0, 0], s2)
        T.copy(A2[0, 2], s3)
        T.clear(f4)
        T.gemm(s2, s3, f4)
        T.reduce_max(s3, f5, dim=0)
        for i, j in T.Parallel(12, 51):
            s6[i, j] = T.cast(T.max(T.max(T.cast(s3[i, 50 - j], "float32") * -0.5, T.cast(s3[11 - i, j], "float32")), T.cast(s3[i, j], "float32")), "float16")
        T.copy(f0, A3[0, 0])
        T.copy(s1, A4[0])
        T.copy(s2, A5[0, 0])
        T.copy(s3, A6[0, 0])
        T.copy(f4, A7[0, 0])
        T.copy(f5, A8[0])
        T.copy(s6, A9[0, 0])
