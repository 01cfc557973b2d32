# random kernel 43
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((25, 162,), "int32"), A1: T.Tensor((17, 85,), "int32"), A2: T.Tensor((35, 59,), "int8"), A3: T.Tensor((64, 56,), "int8"), A4: T.Tensor((24, 48,), "int8"), A5: T.Tensor((24, 64,), "int8"), A6: T.Tensor((25, 160,), "int32"), A7: T.Tensor((25,), "int32"), A8: T.Tensor((16, 85,), "int32"), A9: T.Tensor((85,), "int32"), A10: T.Tensor((37, 59,), "int8"), A11: T.Tensor((37, 23,), "int8"), A12: T.Tensor((32, 24,), "int8"), A13: T.Tensor((24, 1,), "int8"), A14: T.Tensor((1, 48,), "int32"), A15: T.Tensor((3, 64,), "int8")):
    with T.Kernel(1, threads=384) as bx:
        f0 = T.alloc_fragment((25, 160,), "int32")
        f1 = T.alloc_fragment((25,), "int32")
        s2 = T.alloc_shared((16, 85,), "int32")
        s3 = T.alloc_shared((85,), "int32")
        f4 = T.alloc_fragment((37, 59,), "int8")
        f5 = T.alloc_fragment((37, 59,), "int8")
        s6 = T.alloc_shared((32, 24,), "int8")
        s7 = T.alloc_shared((24, 48,), "int8")
        f8 = T.alloc_fragment((32, 48,), "int32")
        f9 = T.alloc_fragment((16, 64,), "int8")
        T.copy(A0[0, 0], f0)
        T.reduce_max(f0, f1, dim=1)
        T.copy(A1[0, 0], s2)
        T.reduce_sum(s2, s3, dim=0)
        T.copy(A2[0, 0], f4)
        for i in T.Parallel(25):
            f1[i] = T.cast(T.max(T.max(T.cast(s2[(i) % 16, (i) % 85], "int32"), T.cast(s2[(i) % 16, (i) % 85], "int32")), T.cast(s3[(i) % 85], "int32")), "int32")
        for i, j in T.Parallel(37, 59):
            f5[i, j] = T.cast(T.max(T.cast(s2[(i) % 16, (j) % 85], "int32"), T.cast(f4[36 - i, j], "int32")), "int8")
        T.clear(f8)
        for p1 in T.Pipelined(2, num_stages=2):
            T.copy(A3[p1 * 32, p1 * 24], s6)
            T.copy(A4[0, 0], s7)
            T.gemm(s6, s7, f8)
        T.copy(A5[0, 0], f9)
        T.copy(f0, A6[0, 0])
        T.copy(f1, A7[0])
        T.copy(s2, A8[0, 0])
        T.copy(s3, A9[0])
        T.copy(f4, A10[0, 0])
        T.copy(f5, A11[0, 0])
        T.copy(s6, A12[0, 0])
        T.copy(s7, A13[0, 0])
        T.copy(f8, A14[0, 0])
        T.copy(f9, A15[0, 0])
