# random kernel 56
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((165, 25,), "float16"), A1: T.Tensor((93,), "bfloat16"), A2: T.Tensor((160, 25,), "float16"), A3: T.Tensor((86, 20,), "float16"), A4: T.Tensor((93,), "bfloat16"), A5: T.Tensor((7,), "bfloat16")):
    with T.Kernel(1, threads=160) as bx:
        s0 = T.alloc_shared((160, 25,), "float16")
        f1 = T.alloc_fragment((160, 25,), "float16")
        s2 = T.alloc_shared((93,), "bfloat16")
        f3 = T.alloc_fragment((16,), "bfloat16")
        T.copy(A0[5, 0], s0)
        T.copy(s0, f1)
        T.copy(A1[0], s2)
        for i in T.Parallel(16):
            f3[i] = T.cast(T.if_then_else(i % 2 == 0, T.min(T.cast(s2[(i) % 93], "float32") * -0.5, T.cast(s0[(i) % 160, (i) % 25], "float32")), T.cast(1, "float32")), "bfloat16")
        T.copy(s0, A2[0, 0])
        T.copy(f1, A3[0, 0])
        T.copy(s2, A4[0])
        T.copy(f3, A5[0])
