# random kernel 54
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((71, 48,), "float16"), A1: T.Tensor((82, 32,), "float32"), A2: T.Tensor((160, 6,), "float32"), A3: T.Tensor((64, 48,), "float16"), A4: T.Tensor((64, 48,), "float16"), A5: T.Tensor((4, 32,), "float32"), A6: T.Tensor((32, 21,), "float32"), A7: T.Tensor((16, 19,), "float32"), A8: T.Tensor((64, 48,), "float16"), A9: T.Tensor((16, 32,), "float32")):
    with T.Kernel(1, threads=160) as bx:
        s0 = T.alloc_shared((64, 48,), "float16")
        f1 = T.alloc_fragment((64, 48,), "float16")
        s2 = T.alloc_shared((16, 32,), "float32")
        s3 = T.alloc_shared((32, 32,), "float32")
        f4 = T.alloc_fragment((16, 32,), "float32")
        f5 = T.alloc_fragment((64, 48,), "float16")
        s6 = T.alloc_shared((16, 32,), "float32")
        T.copy(A0[0, 0], s0)
        T.copy(s0, f1)
        T.clear(f4)
        for p1 in T.Pipelined(5, num_stages=0):
            T.copy(A1[p1 * 16 + 2, 0], s2)
            T.copy(A2[p1 * 32, 0], s3)
            T.gemm(s2, s3, f4)
        T.copy(s0, f5)
        for k2 in range(2):
            for k3 in range(3):
                for i, j in T.Parallel(16, 32):
                    f4[i, j] = T.cast(T.cast(s2[i, j], "float32") * 1.0, "float32")
                for i, j in T.Parallel(64, 48):
                    s0[i, j] = T.cast(T.if_then_else(i % 2 == 0, T.cast(s0[i, j], "float32") * 0.25 + T.cast(f1[i, j], "float32") * 0.5, T.cast(0, "float32")), "float16")
            for i, j in T.Parallel(16, 32):
                if i >= j:
                    s2[i, j] = T.cast(T.if_then_else(i >= j, T.min(T.cast(-1, "float32") * 0.5, T.cast(f4[15 - i, j], "float32")) - T.cast(s2[i, j], "float32") * 0.25, T.cast(1, "float32")), "float32")
            for i, j in T.Parallel(64, 48):
                f1[i, j] = T.cast(T.cast(s0[i, j], "float32") * 0.5 - T.cast(f1[i, j], "float32") * 0.25, "float16")
        T.copy(f4, s6)
        T.copy(s0, A3[0, 0])
        T.copy(f1, A4[0, 0])
        T.copy(s2, A5[0, 0])
        T.copy(s3, A6[0, 0])
        T.copy(f4, A7[0, 0])
        T.copy(f5, A8[0, 0])
        T.copy(s6, A9[0, 0])
