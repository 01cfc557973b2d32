# random kernel 5
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((122,), "float32"), A1: T.Tensor((129, 16,), "float32"), A2: T.Tensor((116,), "float32"), A3: T.Tensor((128, 16,), "float32"), A4: T.Tensor((116,), "float32"), A5: T.Tensor((128, 16,), "float16")):
    with T.Kernel(2, threads=32) as bx:
        f0 = T.alloc_fragment((58,), "float32")
        f1 = T.alloc_fragment((64, 16,), "float32")
        f2 = T.alloc_fragment((58,), "float32")
        s3 = T.alloc_shared((64, 16,), "float16")
        T.copy(A0[bx * 58], f0)
        T.copy(A1[bx * 64 + 1, 0], f1)
        T.copy(f0, f2)
        T.copy(f1, s3)
        T.copy(f0, A2[bx * 58])
        T.copy(f1, A3[bx * 64, 0])
        T.copy(f2, A4[bx * 58])
        T.copy(s3, A5[bx * 64, 0])
