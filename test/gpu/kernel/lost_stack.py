# Random kernel 2925: ptxas 13.0 makes wrong code of it at -O2 (test/gpu/faults.py).
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((48, 167,), "bfloat16"), A1: T.Tensor((588, 20,), "float16"), A2: T.Tensor((24, 22,), "float32"), A3: T.Tensor((480, 8,), "float32"), A4: T.Tensor((33, 160,), "float32"), A5: T.Tensor((588, 20,), "float16"), A6: T.Tensor((575, 13,), "float32"), A7: T.Tensor((588, 20,), "float32"), A8: T.Tensor((24, 16,), "float32"), A9: T.Tensor((480, 8,), "float32"), A10: T.Tensor((48, 4,), "float32"), A11: T.Tensor((24,), "float32"), A12: T.Tensor((60,), "float16"), A13: T.Tensor((588, 20,), "float16")):
    with T.Kernel(3, threads=192) as bx:
        s0 = T.alloc_shared((16, 160,), "float32")
        s1 = T.alloc_shared((196, 20,), "float16")
        f2 = T.alloc_fragment((196, 20,), "float32")
        f3 = T.alloc_fragment((196, 20,), "float32")
        s4 = T.alloc_shared((8, 16,), "float32")
        s5 = T.alloc_shared((160, 8,), "float32")
        f6 = T.alloc_fragment((16, 160,), "float32")
        s7 = T.alloc_shared((8,), "float32")
        s8 = T.alloc_shared((20,), "float16")
        f9 = T.alloc_fragment((196, 20,), "float16")
        T.copy(A0[bx * 16, 0], s0)
        T.clear(f2)
        for p1 in T.Pipelined(2, num_stages=1):
            T.copy(A1[bx * 196, 0], s1)
            for i, j in T.Parallel(196, 20):
                f2[i, j] += T.cast(s1[i, j], "float32")
        for k2 in T.serial(3):
            if k2 == 1:
                for i, j in T.Parallel(16, 160):
                    if i < 5:
                        s0[i, j] = T.cast(T.if_then_else(bx * 160 + j < 206, T.cast(1, "float32") * -0.5, T.cast(-1, "float32")), "float32")
            for k3 in T.serial(2):
                for k4 in T.serial(3):
                    for i, j in T.Parallel(196, 20):
                        s1[i, j] = T.cast(T.min(T.cast(s1[i, j], "float32") * 0.5, T.cast(f2[i, j], "float32")), "float16")
        for i, j in T.Parallel(196, 20):
            f3[i, j] = T.cast(T.cast(s1[i, 19 - j], "float32") * 0.25 - T.cast(f2[195 - i, j], "float32") * 0.25, "float32")
        T.copy(A2[bx * 8, 0], s4)
        T.copy(A3[bx * 160, 0], s5)
        T.clear(f6)
        T.gemm(s4, s5, f6, transpose_A=True, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
        T.reduce_sum(s5, s7, dim=0)
        T.reduce_max(s1, s8, dim=0)
        for i, j in T.Parallel(196, 20):
            f9[i, j] = T.cast(T.cast(s1[i, j], "float32") * -0.5 - T.cast(s4[(i) % 8, (j) % 16], "float32") * 0.25, "float16")
        T.copy(s0, A4[bx * 16, 0])
        T.copy(s1, A5[bx * 196, 0])
        T.copy(f2, A6[bx * 196, 0])
        T.copy(f3, A7[bx * 196, 0])
        T.copy(s4, A8[bx * 8, 0])
        T.copy(s5, A9[bx * 160, 0])
        T.copy(f6, A10[bx * 16, 0])
        T.copy(s7, A11[bx * 8])
        T.copy(s8, A12[bx * 20])
        T.copy(f9, A13[bx * 196, 0])
