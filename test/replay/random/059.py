# random kernel 59
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((747,), "bfloat16"), A1: T.Tensor((648, 21,), "float32"), A2: T.Tensor((649,), "bfloat16"), A3: T.Tensor((747,), "bfloat16"), A4: T.Tensor((486, 3,), "float32"), A5: T.Tensor((459, 8,), "float32"), A6: T.Tensor((486, 8,), "bfloat16"), A7: T.Tensor((486, 2,), "float32"), A8: T.Tensor((486, 8,), "bfloat16"), A9: T.Tensor((474, 25,), "bfloat16")):
    with T.Kernel(3, threads=160) as bx:
        f0 = T.alloc_fragment((249,), "bfloat16")
        s1 = T.alloc_shared((162, 8,), "float32")
        f2 = T.alloc_fragment((162, 8,), "float32")
        f3 = T.alloc_fragment((162, 8,), "bfloat16")
        f4 = T.alloc_fragment((162, 8,), "float32")
        s5 = T.alloc_shared((162, 8,), "bfloat16")
        f6 = T.alloc_fragment((158, 25,), "bfloat16")
        T.copy(A0[bx * 249], f0)
        T.clear(f2)
        for p1 in T.Pipelined(2, num_stages=4):
            T.copy(A1[bx * 162 + p1 * 162, p1 * 8], s1)
            for i, j in T.Parallel(162, 8):
                f2[i, j] += T.cast(s1[i, j], "float32")
            T.copy(A2[bx * 249], f0)
        for i, j in T.Parallel(162, 8):
            s1[i, j] = T.cast(T.cast(s1[i, j], "float32") * 0.5 + T.cast(f2[i, j], "float32") * 0.5, "float32")
        for i, j in T.Parallel(162, 8):
            f3[i, j] = T.cast(T.cast(s1[i, 7 - j], "float32") * 1.0, "bfloat16")
        for i in T.Parallel(249):
            f0[i] = T.cast(T.cast(f0[i], "float32") * 1.0 - T.cast(f0[i], "float32") * 0.25, "bfloat16")
        T.copy(f2, f4)
        for i, j in T.Parallel(162, 8):
            s5[i, j] = T.cast(T.cast(s1[i, 7 - j], "float32") * 0.25, "bfloat16")
        for i, j in T.Parallel(158, 25):
            f6[i, j] = T.cast(T.max(T.cast(s1[(i) % 162, (j) % 8], "float32") * 0.25, T.cast(s5[(i) % 162, (j) % 8], "float32")) + T.cast(s5[(i) % 162, (j) % 8], "float32") * 0.5, "bfloat16")
        T.copy(f0, A3[bx * 249])
        T.copy(s1, A4[bx * 162, 0])
        T.copy(f2, A5[bx * 162, 0])
        T.copy(f3, A6[bx * 162, 0])
        T.copy(f4, A7[bx * 162, 0])
        T.copy(s5, A8[bx * 162, 0])
        T.copy(f6, A9[bx * 158, 0])
