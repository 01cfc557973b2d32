# random kernel 3
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((248,), "float16"), A1: T.Tensor((13, 160,), "float16"), A2: T.Tensor((12, 25,), "float16"), A3: T.Tensor((6, 46,), "float32"), A4: T.Tensor((83, 6,), "bfloat16"), A5: T.Tensor((79,), "float32"), A6: T.Tensor((33, 79,), "bfloat16"), A7: T.Tensor((7, 89,), "float16"), A8: T.Tensor((12, 25,), "float16"), A9: T.Tensor((160, 17,), "float32"), A10: T.Tensor((8, 3,), "float32"), A11: T.Tensor((256, 16,), "bfloat16"), A12: T.Tensor((124, 33,), "bfloat16")):
    with T.Kernel(1, threads=256) as bx:
        f0 = T.alloc_fragment((241,), "float32")
        s1 = T.alloc_shared((33, 124,), "bfloat16")
        s2 = T.alloc_shared((12, 160,), "float16")
        s3 = T.alloc_shared((12, 25,), "float16")
        f4 = T.alloc_fragment((160, 25,), "float32")
        f5 = T.alloc_fragment((8, 40,), "float32")
        f6 = T.alloc_fragment((256, 16,), "bfloat16")
        s7 = T.alloc_shared((124, 33,), "bfloat16")
        T.copy(A0[0], f0)
        for i, j in T.Parallel(33, 124):
            s1[i, j] = T.cast(T.min(T.cast(1, "float32") * 1.0, T.cast(-2, "float32")), "bfloat16")
        T.copy(A1[1, 0], s2)
        T.copy(A2[0, 0], s3)
        T.gemm(s2, s3, f4, transpose_A=True, clear_accum=True, policy=T.GemmWarpPolicy.FullCol)
        T.copy(A3[0, 0], f5)
        T.copy(A4[0, 0], f6)
        T.transpose(s1, s7)
        T.copy(f0, A5[0])
        T.copy(s1, A6[0, 0])
        T.copy(s2, A7[0, 0])
        T.copy(s3, A8[0, 0])
        T.copy(f4, A9[0, 0])
        T.copy(f5, A10[0, 0])
        T.copy(f6, A11[0, 0])
        T.copy(s7, A12[0, 0])
