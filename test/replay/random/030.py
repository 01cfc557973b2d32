# random kernel 30
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((31, 175,), "float16"), A1: T.Tensor((35, 170,), "float32"), A2: T.Tensor((48, 60,), "bfloat16")):
    with T.Kernel(2, threads=128) as bx:
        s0 = T.alloc_shared((24, 170,), "float32")
        f1 = T.alloc_fragment((24, 170,), "bfloat16")
        T.copy(A0[bx * 24 + 2, 0], s0)
        for i, j in T.Parallel(24, 170):
            s0[i, j] = T.cast(T.if_then_else(i >= j, T.cast(s0[i, j], "float32") * -0.5 + T.cast(s0[i, j], "float32") * 0.5 + T.cast(0, "float32") * 0.5, T.cast(1, "float32")), "float32")
        T.copy(s0, f1)
        T.copy(s0, A1[bx * 24, 0])
        T.copy(f1, A2[bx * 24, 0])
