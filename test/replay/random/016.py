# random kernel 16
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((120, 32,), "bfloat16"), A1: T.Tensor((77, 159,), "float32"), A2: T.Tensor((120, 32,), "float16"), A3: T.Tensor((75, 159,), "float16"), A4: T.Tensor((120,), "float16"), A5: T.Tensor((96,), "float16"), A6: T.Tensor((96,), "float32"), A7: T.Tensor((75, 159,), "float32"), A8: T.Tensor((83,), "float32"), A9: T.Tensor((477, 25,), "float32")):
    with T.Kernel(3, threads=128) as bx:
        s0 = T.alloc_shared((40, 32,), "float16")
        f1 = T.alloc_fragment((25, 159,), "float16")
        f2 = T.alloc_fragment((40,), "float16")
        s3 = T.alloc_shared((32,), "float16")
        f4 = T.alloc_fragment((32,), "float32")
        s5 = T.alloc_shared((25, 159,), "float32")
        f6 = T.alloc_fragment((32,), "float32")
        s7 = T.alloc_shared((159, 25,), "float32")
        T.copy(A0[bx * 40, 0], s0)
        T.copy(A1[bx * 25, 0], f1)
        T.reduce_sum(s0, f2, dim=1)
        T.reduce_absmax(s0, s3, dim=0)
        for i in T.Parallel(32):
            f4[i] = T.cast(T.max(T.cast(s3[i], "float32") * 0.5, T.cast(s3[i], "float32")) - T.cast(s3[i], "float32") * 0.25, "float32")
        for i, j in T.Parallel(25, 159):
            s5[i, j] = T.cast(T.cast(s0[(i) % 40, (j) % 32], "float32") * 0.25, "float32")
        T.copy(f4, f6)
        T.transpose(s5, s7)
        T.copy(s0, A2[bx * 40, 0])
        T.copy(f1, A3[bx * 25, 0])
        T.copy(f2, A4[bx * 40])
        T.copy(s3, A5[bx * 32])
        T.copy(f4, A6[bx * 32])
        T.copy(s5, A7[bx * 25, 0])
        T.copy(f6, A8[bx * 32])
        T.copy(s7, A9[bx * 159, 0])
