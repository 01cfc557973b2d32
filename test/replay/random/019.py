# random kernel 19
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((160, 25,), "bfloat16"), A1: T.Tensor((19, 60,), "float16"), A2: T.Tensor((60, 2,), "bfloat16"), A3: T.Tensor((160, 25,), "bfloat16"), A4: T.Tensor((51, 60,), "float16"), A5: T.Tensor((60, 16,), "float16"), A6: T.Tensor((51, 16,), "float32"), A7: T.Tensor((60,), "float32"), A8: T.Tensor((160, 25,), "bfloat16"), A9: T.Tensor((51,), "float32"), A10: T.Tensor((3,), "float16")):
    with T.Kernel(1, threads=224) as bx:
        f0 = T.alloc_fragment((160, 25,), "bfloat16")
        s1 = T.alloc_shared((51, 60,), "float16")
        s2 = T.alloc_shared((60, 16,), "float16")
        f3 = T.alloc_fragment((51, 16,), "float32")
        s4 = T.alloc_shared((60,), "float32")
        f5 = T.alloc_fragment((160, 25,), "bfloat16")
        s6 = T.alloc_shared((51,), "float32")
        f7 = T.alloc_fragment((16,), "float16")
        T.copy(A0[0, 0], f0)
        T.copy(A1[0, 0], s1)
        T.copy(A2[0, 0], s2)
        T.gemm(s1, s2, f3, clear_accum=True)
        T.reduce_max(s2, s4, dim=1)
        T.copy(f0, f5)
        T.reduce_absmax(f3, s6, dim=1)
        T.reduce_absmax(s2, f7, dim=0)
        T.copy(f0, A3[0, 0])
        T.copy(s1, A4[0, 0])
        T.copy(s2, A5[0, 0])
        T.copy(f3, A6[0, 0])
        T.copy(s4, A7[0])
        T.copy(f5, A8[0, 0])
        T.copy(s6, A9[0])
        T.copy(f7, A10[0])
