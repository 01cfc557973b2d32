# Random kernel 700156: NVRTC 13.0 crashes on its text (test/gpu/faults.py, 6).
# with: N2=36 N11=256 N13=450
import tilelang
import tilelang.language as T

N2 = T.dynamic("N2")
N11 = T.dynamic("N11")
N13 = T.dynamic("N13")

@T.prim_func
def main(A0: T.Tensor((37, 18,), "float16"), A1: T.Tensor((457, N2,), "bfloat16"), A2: T.Tensor((49, 256,), "bfloat16"), A3: T.Tensor((253, 22,), "bfloat16"), A4: T.Tensor((32, 16,), "float32"), A5: T.Tensor((66, 248,), "bfloat16"), A6: T.Tensor((450, 23,), "bfloat16"), A7: T.Tensor((450, 36,), "float32"), A8: T.Tensor((204, 80,), "float16"), A9: T.Tensor((48, 256,), "bfloat16"), A10: T.Tensor((N11, 24,), "bfloat16"), A11: T.Tensor((24, 13,), "float32"), A12: T.Tensor((N13, 36,), "float16"), A13: T.Tensor((502,), "bfloat16")):
    with T.Kernel(2, 2, threads=256) as (bx, by):
        s0 = T.alloc_shared((16, 8,), "float32")
        f1 = T.alloc_fragment((33, 124,), "bfloat16")
        s2 = T.alloc_shared((225, 18,), "bfloat16")
        f3 = T.alloc_fragment((225, 18,), "float32")
        s4 = T.alloc_shared((102, 40,), "float16")
        s5 = T.alloc_shared((24, 128,), "bfloat16")
        s6 = T.alloc_shared((128, 16,), "bfloat16")
        f7 = T.alloc_fragment((24, 16,), "float32")
        s8 = T.alloc_shared((225, 18,), "float16")
        f10 = T.alloc_fragment((128,), "bfloat16")
        T.copy(A0[bx * 16, 2 + by * 8], s0)
        for i, j in T.Parallel(33, 124):
            f1[i, j] = T.cast(T.if_then_else(T.cast(s0[(i) % 16, (j) % 8], "float32") > T.cast(s0[(i) % 16, (j) % 8], "float32"), T.cast(s0[(i) % 16, (j) % 8], "float32"), T.cast(s0[(i) % 16, (j) % 8], "float32")), "bfloat16")
        T.clear(f3)
        for p1 in T.Pipelined(3, num_stages=0):
            T.copy(A1[bx * 225, 0 + by * 18], s2)
            for i, j in T.Parallel(225, 18):
                f3[i, j] += T.cast(s2[i, j], "float32")
        for i, j in T.Parallel(102, 40):
            s4[i, j] = T.cast(T.max(T.cast(s0[(i) % 16, (j) % 8], "float32"), T.cast(-3, "float32")), "float16")
        T.copy(A2[bx * 24 + 1, 0 + by * 128], s5)
        T.copy(A3[bx * 128, 0 + by * 16], s6)
        T.gemm(s5, s6, f7, clear_accum=True)
        for i, j in T.Parallel(225, 18):
            s8[i, j] = T.cast((T.cast(f3[i, 17 - j], "float16") * T.cast(f3[i, j], "float16")), "float16")
        v9 = T.reshape(s5, [192, 16])
        for i in T.Parallel(128):
            f10[i] = T.cast(T.max(T.cast(s6[(i) % 128, (i) % 16], "float32"), T.max(T.cast(s4[(i) % 102, (i) % 40], "float32"), T.cast(s4[(i) % 102, (i) % 40], "float32"))), "bfloat16")
        T.copy(s0, A4[bx * 16, by * 8])
        T.copy(f1, A5[bx * 33, by * 124])
        T.copy(s2, A6[bx * 225, by * 18])
        T.copy(f3, A7[bx * 225, by * 18])
        T.copy(s4, A8[bx * 102, by * 40])
        T.copy(s5, A9[bx * 24, by * 128])
        T.copy(s6, A10[bx * 128, by * 16])
        T.atomic_add(A11[0:24, 0:16], f7)
        T.copy(s8, A12[bx * 225, by * 18])
        T.copy(f10, A13[((bx) * 2 + by) * 128])
