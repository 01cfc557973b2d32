# random kernel 20
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((64, 53,), "bfloat16"), A1: T.Tensor((79, 12,), "float32"), A2: T.Tensor((12, 51,), "float32"), A3: T.Tensor((4, 768,), "float32"), A4: T.Tensor((64, 45,), "bfloat16"), A5: T.Tensor((64,), "bfloat16"), A6: T.Tensor((64, 53,), "bfloat16"), A7: T.Tensor((64,), "bfloat16"), A8: T.Tensor((64, 53,), "bfloat16"), A9: T.Tensor((79, 12,), "float32"), A10: T.Tensor((10, 51,), "float32"), A11: T.Tensor((79, 51,), "float32"), A12: T.Tensor((3, 256,), "float32"), A13: T.Tensor((8, 222,), "float32")):
    with T.Kernel(1, threads=64) as bx:
        f0 = T.alloc_fragment((64, 53,), "bfloat16")
        s1 = T.alloc_shared((64,), "bfloat16")
        f2 = T.alloc_fragment((64, 53,), "bfloat16")
        s3 = T.alloc_shared((64,), "bfloat16")
        f4 = T.alloc_fragment((64, 53,), "bfloat16")
        s5 = T.alloc_shared((79, 12,), "float32")
        s6 = T.alloc_shared((12, 51,), "float32")
        f7 = T.alloc_fragment((79, 51,), "float32")
        s8 = T.alloc_shared((8, 256,), "float32")
        f9 = T.alloc_fragment((8, 256,), "float32")
        T.copy(A0[0, 0], f0)
        T.reduce_max(f0, s1, dim=1)
        T.copy(f0, f2)
        T.copy(s1, s3)
        T.cummax(f0, f4, dim=1)
        T.copy(A1[0, 0], s5)
        T.copy(A2[0, 0], s6)
        T.gemm(s5, s6, f7, clear_accum=True)
        for i, j in T.Parallel(64, 53):
            f2[i, j] = T.cast(T.cast(f0[63 - i, j], "float32") * 0.5, "bfloat16")
        T.clear(f9)
        for p1 in T.Pipelined(3, num_stages=0):
            T.copy(A3[0, p1 * 256], s8)
            for i, j in T.Parallel(8, 256):
                f9[i, j] += T.cast(s8[i, j], "float32")
        T.copy(f0, A4[0, 0])
        T.copy(s1, A5[0])
        T.copy(f2, A6[0, 0])
        T.copy(s3, A7[0])
        T.copy(f4, A8[0, 0])
        T.copy(s5, A9[0, 0])
        T.copy(s6, A10[0, 0])
        T.copy(f7, A11[0, 0])
        T.copy(s8, A12[0, 0])
        T.copy(f9, A13[0, 0])
