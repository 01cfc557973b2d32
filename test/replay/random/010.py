# random kernel 10
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((203, 11,), "float16"), A1: T.Tensor((228, 49,), "float16"), A2: T.Tensor((249, 49,), "float32"), A3: T.Tensor((249, 49,), "float32"), A4: T.Tensor((249, 43,), "float32"), A5: T.Tensor((249, 49,), "bfloat16"), A6: T.Tensor((194,), "float32"), A7: T.Tensor((210, 58,), "bfloat16")):
    with T.Kernel(3, threads=32) as bx:
        s0 = T.alloc_shared((83, 49,), "float16")
        f1 = T.alloc_fragment((83, 49,), "float32")
        f2 = T.alloc_fragment((83, 49,), "float32")
        f3 = T.alloc_fragment((83, 49,), "float32")
        s4 = T.alloc_shared((83, 49,), "bfloat16")
        f5 = T.alloc_fragment((83,), "float32")
        f6 = T.alloc_fragment((70, 58,), "bfloat16")
        T.copy(A0[bx * 83, 0], s0)
        for i, j in T.Parallel(83, 49):
            f1[i, j] = T.cast(T.cast(s0[i, j], "float32") * 0.5, "float32")
        T.copy(s0, f1)
        for i, j in T.Parallel(83, 49):
            f2[i, j] = T.cast(T.min(T.max(T.cast(s0[i, j], "float32") * 0.5, T.cast(f1[82 - i, j], "float32")), T.cast(f1[i, j], "float32")), "float32")
        if bx == 0:
            if bx == 0:
                T.fill(s0, 0)
                if bx == 0:
                    T.cumsum(s0, dim=0, reverse=True)
        T.copy(f2, f3)
        for i, j in T.Parallel(83, 49):
            s4[i, j] = T.cast(T.cast(f2[i, 48 - j], "float32") * 0.25 - T.cast(f3[i, j], "float32") * 0.25, "bfloat16")
        T.reduce_max(f1, f5, dim=1)
        T.clear(f6)
        T.copy(s0, A1[bx * 83, 0])
        T.copy(f1, A2[bx * 83, 0])
        T.copy(f2, A3[bx * 83, 0])
        T.copy(f3, A4[bx * 83, 0])
        T.copy(s4, A5[bx * 83, 0])
        T.copy(f5, A6[bx * 83])
        T.copy(f6, A7[bx * 70, 0])
