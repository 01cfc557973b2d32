# random kernel 34
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((45,), "float16"), A1: T.Tensor((40,), "float16"), A2: T.Tensor((4,), "float16")):
    with T.Kernel(1, threads=32) as bx:
        f0 = T.alloc_fragment((40,), "float16")
        s1 = T.alloc_shared((40,), "float16")
        T.copy(A0[5], f0)
        for i in T.Parallel(40):
            f0[i] = T.cast(T.cast(f0[i], "float32") * 0.25, "float16")
        T.copy(f0, s1)
        T.copy(f0, A1[0])
        T.copy(s1, A2[0])
