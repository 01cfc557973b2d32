# random kernel 35
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((141,), "float32"), A1: T.Tensor((141,), "float16"), A2: T.Tensor((141,), "float16"), A3: T.Tensor((43, 95,), "float32")):
    with T.Kernel(1, threads=96) as bx:
        f0 = T.alloc_fragment((141,), "float16")
        s1 = T.alloc_shared((141,), "float16")
        s2 = T.alloc_shared((43, 95,), "float32")
        T.copy(A0[0], f0)
        for i in T.Parallel(141):
            s1[i] = T.cast(T.cast(f0[i], "float32") * 0.5, "float16")
        T.fill(s2, 3)
        T.copy(f0, A1[0])
        T.copy(s1, A2[0])
        T.copy(s2, A3[0, 0])
