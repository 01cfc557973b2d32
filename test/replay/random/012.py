# random kernel 12
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((34, 236,), "float16"), A1: T.Tensor((374, 21,), "float32"), A2: T.Tensor((969,), "float16"), A3: T.Tensor((166, 4,), "bfloat16"), A4: T.Tensor((21, 52,), "bfloat16"), A5: T.Tensor((29, 68,), "float16"), A6: T.Tensor((374, 21,), "float32"), A7: T.Tensor((374, 21,), "float32"), A8: T.Tensor((374, 20,), "float16"), A9: T.Tensor((320,), "float16"), A10: T.Tensor((320,), "float32"), A11: T.Tensor((166, 8,), "bfloat16"), A12: T.Tensor((16, 49,), "bfloat16"), A13: T.Tensor((166, 35,), "float32")):
    with T.Kernel(2, threads=32) as bx:
        s0 = T.alloc_shared((17, 236,), "float16")
        s1 = T.alloc_shared((187, 21,), "float32")
        f2 = T.alloc_fragment((187, 21,), "float32")
        f3 = T.alloc_fragment((187, 21,), "float16")
        s4 = T.alloc_shared((160,), "float16")
        f5 = T.alloc_fragment((160,), "float32")
        s6 = T.alloc_shared((83, 8,), "bfloat16")
        s7 = T.alloc_shared((8, 49,), "bfloat16")
        f8 = T.alloc_fragment((83, 49,), "float32")
        T.copy(A0[bx * 17, 0], s0)
        for i, j in T.Parallel(17, 236):
            s0[i, j] = T.cast(T.if_then_else(bx * 236 + j < 58, T.cast(s0[i, j], "float32") * 0.25, T.cast(-1, "float32")), "float16")
        for k1 in T.serial(3):
            for i, j in T.Parallel(17, 236):
                s0[i, j] = T.cast(T.cast(s0[i, j], "float32") * 1.0 + T.cast(s0[i, j], "float32") * 0.5 + T.cast(s0[i, j], "float32") * 0.5, "float16")
            T.cummax(s0, dim=0, reverse=True)
            for i, j in T.Parallel(17, 236):
                s0[i, j] = T.cast(T.min(T.cast(s0[i, j], "float32") * 1.0, T.cast(s0[i, j], "float32")) + T.cast(s0[i, j], "float32") * 0.5, "float16")
        T.clear(f2)
        for p2 in T.Pipelined(4, num_stages=1):
            T.copy(A1[bx * 187, 0], s1)
            for i, j in T.Parallel(187, 21):
                f2[i, j] += T.cast(s1[i, j], "float32")
        for i, j in T.Parallel(187, 21):
            f3[i, j] = T.cast(T.cast(f2[i, j], "float32") * 0.5 + T.cast(f2[i, 20 - j], "float32") * 0.5, "float16")
        for i, j in T.Parallel(187, 21):
            f3[i, j] = T.cast(T.min(T.cast(s1[i, j], "float32") * 1.0 - T.cast(f2[186 - i, j], "float32") * 0.25, T.cast(s0[(i) % 17, (j) % 236], "float32")), "float16")
        T.clear(f5)
        for p4 in T.Pipelined(5, num_stages=4):
            T.copy(A2[bx * 160 + p4 * 160], s4)
            for i in T.Parallel(160):
                f5[i] += T.cast(s4[i], "float32")
        T.copy(A3[bx * 83, 0], s6)
        T.copy(A4[bx * 8 + 5, 3], s7)
        T.gemm(s6, s7, f8, clear_accum=True)
        T.copy(s0, A5[bx * 17, 0])
        T.copy(s1, A6[bx * 187, 0])
        T.copy(f2, A7[bx * 187, 0])
        T.copy(f3, A8[bx * 187, 0])
        T.copy(s4, A9[bx * 160])
        T.copy(f5, A10[bx * 160])
        T.copy(s6, A11[bx * 83, 0])
        T.copy(s7, A12[bx * 8, 0])
        T.copy(f8, A13[bx * 83, 0])
