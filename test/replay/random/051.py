# random kernel 51
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((42, 96,), "float16"), A1: T.Tensor((101, 293,), "bfloat16"), A2: T.Tensor((126, 288,), "float16"), A3: T.Tensor((96, 49,), "float16"), A4: T.Tensor((12, 96,), "float16"), A5: T.Tensor((42, 96,), "bfloat16"), A6: T.Tensor((96, 30,), "float16"), A7: T.Tensor((96, 40,), "float32"), A8: T.Tensor((42, 96,), "float16")):
    with T.Kernel(1, threads=128) as bx:
        f0 = T.alloc_fragment((42, 96,), "float16")
        s1 = T.alloc_shared((42, 96,), "bfloat16")
        s2 = T.alloc_shared((96, 40,), "float16")
        s3 = T.alloc_shared((96, 40,), "float32")
        f4 = T.alloc_fragment((42, 96,), "float16")
        T.copy(A0[0, 0], f0)
        for i, j in T.Parallel(42, 96):
            s1[i, j] = T.cast(T.cast(f0[i, j], "float32") * 0.25, "bfloat16")
        for k1 in T.serial(1):
            for k2 in range(1):
                for i, j in T.Parallel(42, 96):
                    f0[i, j] = T.cast(T.max(T.cast(f0[i, j], "float32") * -0.5, T.cast(s1[i, j], "float32")), "float16")
        for k3 in T.unroll(3):
            for i, j in T.Parallel(42, 96):
                s1[i, j] = T.cast(T.cast(s1[i, j], "float32") * 0.25, "bfloat16")
            if k3 % 2 == 0:
                T.clear(s1)
                if k3 == 0:
                    T.copy(A1[k3 * 42, k3 * 96], s1)
                    T.copy(A2[k3 * 42, k3 * 96], f0)
            T.copy(f0, s1)
        T.copy(A3[0, 0], s2)
        for i, j in T.Parallel(96, 40):
            s3[i, j] = T.cast(T.cast(s2[i, j], "float32") * 0.25 - T.cast(s2[i, j], "float32") * 0.25 + T.cast(s2[i, j], "float32") * 0.5, "float32")
        for i, j in T.Parallel(42, 96):
            s1[i, j] = T.cast(T.cast(f0[i, j], "float32") * 0.25, "bfloat16")
        T.cumsum(f0, f4, dim=0)
        T.copy(f0, A4[0, 0])
        T.copy(s1, A5[0, 0])
        T.copy(s2, A6[0, 0])
        T.copy(s3, A7[0, 0])
        T.copy(f4, A8[0, 0])
