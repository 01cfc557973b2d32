# random kernel 31
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((257,), "int32"), A1: T.Tensor((8,), "int8"), A2: T.Tensor((256,), "int32"), A3: T.Tensor((64,), "int32"), A4: T.Tensor((8,), "int8"), A5: T.Tensor((8,), "int32"), A6: T.Tensor((10, 131,), "int32"), A7: T.Tensor((96,), "int8")):
    with T.Kernel(1, threads=96) as bx:
        s0 = T.alloc_shared((256,), "int32")
        f1 = T.alloc_fragment((64,), "int32")
        s2 = T.alloc_shared((8,), "int8")
        f3 = T.alloc_fragment((8,), "int32")
        s4 = T.alloc_shared((28, 143,), "int32")
        f5 = T.alloc_fragment((96,), "int8")
        T.copy(A0[1], s0)
        for i in T.Parallel(64):
            f1[i] = T.cast(T.if_then_else(i < 3, T.cast(-1, "int32"), T.cast(2, "int32")), "int32")
        for k1 in T.serial(3):
            for i in T.Parallel(64):
                f1[i] = T.cast(T.cast(1, "int32"), "int32")
        T.clear(f3)
        for p2 in T.Pipelined(1, num_stages=2):
            T.copy(A1[0], s2)
            for i in T.Parallel(8):
                f3[i] += T.cast(s2[i], "int32")
        for i in T.Parallel(64):
            f1[i] = T.cast(T.cast(0, "int32"), "int32")
        T.fill(s4, 0)
        T.clear(f5)
        T.copy(s0, A2[0])
        T.copy(f1, A3[0])
        T.copy(s2, A4[0])
        T.copy(f3, A5[0])
        T.copy(s4, A6[0, 0])
        T.copy(f5, A7[0])
