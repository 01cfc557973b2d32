# random kernel 14
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((21, 192,), "int32"), A1: T.Tensor((26, 172,), "int8"), A2: T.Tensor((46, 43,), "int8"), A3: T.Tensor((21, 192,), "int32"), A4: T.Tensor((21, 188,), "int32"), A5: T.Tensor((25, 160,), "int8"), A6: T.Tensor((6, 42,), "int8")):
    with T.Kernel(1, threads=160) as bx:
        s0 = T.alloc_shared((21, 192,), "int32")
        s1 = T.alloc_shared((21, 192,), "int32")
        s2 = T.alloc_shared((25, 160,), "int8")
        s3 = T.alloc_shared((96, 42,), "int8")
        T.copy(A0[0, 0], s0)
        T.cummax(s0, s1, dim=0, reverse=True)
        T.copy(A1[1, 4], s2)
        T.copy(A2[0, 0], s3)
        T.copy(s0, A3[0, 0])
        T.copy(s1, A4[0, 0])
        T.copy(s2, A5[0, 0])
        T.copy(s3, A6[0, 0])
