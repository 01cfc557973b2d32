# random kernel 40
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((226, 18,), "float32"), A1: T.Tensor((229, 12,), "float32"), A2: T.Tensor((12, 15,), "float32"), A3: T.Tensor((226, 18,), "float16"), A4: T.Tensor((126,), "float32"), A5: T.Tensor((226, 8,), "float16"), A6: T.Tensor((17,), "float16"), A7: T.Tensor((8, 18,), "float16"), A8: T.Tensor((229, 8,), "float32"), A9: T.Tensor((1, 17,), "float32"), A10: T.Tensor((175, 16,), "float32")):
    with T.Kernel(1, threads=128) as bx:
        s0 = T.alloc_shared((226, 18,), "float16")
        f1 = T.alloc_fragment((226,), "float32")
        f2 = T.alloc_fragment((226, 18,), "float16")
        s3 = T.alloc_shared((18,), "float16")
        s4 = T.alloc_shared((226, 18,), "float16")
        s5 = T.alloc_shared((229, 12,), "float32")
        s6 = T.alloc_shared((12, 17,), "float32")
        f7 = T.alloc_fragment((229, 17,), "float32")
        T.copy(A0[0, 0], s0)
        T.reduce_sum(s0, f1, dim=1)
        T.copy(s0, f2)
        T.reduce_min(s0, s3, dim=0)
        T.cummax(s0, s4, dim=1)
        T.reduce_absmax(s0, f1, dim=1)
        T.reduce_abssum(s4, s3, dim=0)
        T.copy(A1[0, 0], s5)
        T.copy(A2[0, 5], s6)
        T.clear(f7)
        T.gemm(s5, s6, f7)
        T.reduce_min(s0, f1, dim=1)
        T.copy(s0, A3[0, 0])
        T.copy(f1, A4[0])
        T.copy(f2, A5[0, 0])
        T.copy(s3, A6[0])
        T.copy(s4, A7[0, 0])
        T.copy(s5, A8[0, 0])
        T.copy(s6, A9[0, 0])
        T.copy(f7, A10[0, 0])
