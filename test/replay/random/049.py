# random kernel 49
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((434,), "int32"), A1: T.Tensor((192, 64,), "int32"), A2: T.Tensor((192, 4,), "int32"), A3: T.Tensor((350,), "int32"), A4: T.Tensor((192, 64,), "int32")):
    with T.Kernel(3, threads=352) as bx:
        s0 = T.alloc_shared((142,), "int32")
        f1 = T.alloc_fragment((64, 64,), "int32")
        T.copy(A0[bx * 142], s0)
        for i in T.Parallel(142):
            s0[i] = T.cast((T.cast(0, "int32") + T.cast(-2, "int32")), "int32")
        T.copy(A1[bx * 64, 0], f1)
        if bx == 0:
            T.copy(A2[bx * 64, 0], f1)
        T.copy(s0, A3[bx * 142])
        T.copy(f1, A4[bx * 64, 0])
