# random kernel 57
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((167, 21,), "int8"), A1: T.Tensor((8, 12,), "int8"), A2: T.Tensor((49, 10,), "int8"), A3: T.Tensor((6, 16,), "int8"), A4: T.Tensor((194, 21,), "int8"), A5: T.Tensor((18, 219,), "int8"), A6: T.Tensor((10, 219,), "int8"), A7: T.Tensor((3, 12,), "int8"), A8: T.Tensor((18, 219,), "int8"), A9: T.Tensor((18, 219,), "int8"), A10: T.Tensor((17, 8,), "int8"), A11: T.Tensor((2, 16,), "int8"), A12: T.Tensor((10, 16,), "int32")):
    with T.Kernel(1, threads=192) as bx:
        f0 = T.alloc_fragment((194, 21,), "int8")
        f1 = T.alloc_fragment((18, 219,), "int8")
        s2 = T.alloc_shared((18, 219,), "int8")
        f3 = T.alloc_fragment((8, 12,), "int8")
        f4 = T.alloc_fragment((18, 219,), "int8")
        s5 = T.alloc_shared((18, 219,), "int8")
        s6 = T.alloc_shared((40, 8,), "int8")
        s7 = T.alloc_shared((8, 16,), "int8")
        f8 = T.alloc_fragment((40, 16,), "int32")
        T.copy(A0[0, 0], f0)
        T.fill(f1, 1)
        T.copy(f1, s2)
        T.copy(A1[0, 2], f3)
        T.copy(f1, f4)
        T.copy(f4, s5)
        T.clear(f8)
        for p1 in T.Pipelined(1, num_stages=2):
            T.copy(A2[p1 * 40, p1 * 8 + 4], s6)
            T.copy(A3[p1 * 8, 0], s7)
            T.gemm(s6, s7, f8)
        T.copy(f0, A4[0, 0])
        T.copy(f1, A5[0, 0])
        T.copy(s2, A6[0, 0])
        T.copy(f3, A7[0, 0])
        T.copy(f4, A8[0, 0])
        T.copy(s5, A9[0, 0])
        T.copy(s6, A10[0, 0])
        T.copy(s7, A11[0, 0])
        T.copy(f8, A12[0, 0])
