# random kernel 13
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((128, 35,), "bfloat16"), A1: T.Tensor((135, 10,), "bfloat16"), A2: T.Tensor((32, 16,), "bfloat16"), A3: T.Tensor((22, 25,), "float16"), A4: T.Tensor((22, 101,), "float16"), A5: T.Tensor((128, 32,), "bfloat16"), A6: T.Tensor((19, 3,), "bfloat16"), A7: T.Tensor((32, 7,), "bfloat16"), A8: T.Tensor((105, 32,), "float32"), A9: T.Tensor((12, 128,), "bfloat16"), A10: T.Tensor((14, 4,), "float16"), A11: T.Tensor((22, 96,), "float16"), A12: T.Tensor((23, 96,), "float32")):
    with T.Kernel(1, threads=96) as bx:
        s0 = T.alloc_shared((128, 32,), "bfloat16")
        s1 = T.alloc_shared((128, 12,), "bfloat16")
        s2 = T.alloc_shared((32, 12,), "bfloat16")
        f3 = T.alloc_fragment((128, 32,), "float32")
        s4 = T.alloc_shared((12, 128,), "bfloat16")
        s5 = T.alloc_shared((22, 23,), "float16")
        s6 = T.alloc_shared((22, 96,), "float16")
        f7 = T.alloc_fragment((23, 96,), "float32")
        T.copy(A0[0, 3], s0)
        T.copy(A1[0, 0], s1)
        T.copy(A2[0, 0], s2)
        T.clear(f3)
        T.gemm(s1, s2, f3, transpose_B=True)
        T.cummax(s1, dim=1)
        T.transpose(s1, s4)
        T.copy(A3[0, 0], s5)
        T.copy(A4[0, 0], s6)
        T.gemm(s5, s6, f7, transpose_A=True, clear_accum=True, policy=T.GemmWarpPolicy.Square)
        T.copy(s0, A5[0, 0])
        T.copy(s1, A6[0, 0])
        T.copy(s2, A7[0, 0])
        T.copy(f3, A8[0, 0])
        T.copy(s4, A9[0, 0])
        T.copy(s5, A10[0, 0])
        T.copy(s6, A11[0, 0])
        T.copy(f7, A12[0, 0])
