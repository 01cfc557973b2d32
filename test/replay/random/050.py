# random kernel 50
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((64,), "float16"), A1: T.Tensor((251, 37,), "float16"), A2: T.Tensor((64,), "float16"), A3: T.Tensor((248, 33,), "float16"), A4: T.Tensor((64,), "float16")):
    with T.Kernel(2, threads=128) as bx:
        s0 = T.alloc_shared((32,), "float16")
        f1 = T.alloc_fragment((124, 33,), "float16")
        s2 = T.alloc_shared((32,), "float16")
        T.copy(A0[bx * 32], s0)
        T.copy(A1[bx * 124 + 3, 0], f1)
        T.copy(s0, s2)
        for i in T.Parallel(32):
            s2[i] = T.cast(T.max(T.cast(s2[i], "float32") * 1.0, T.cast(s0[i], "float32")), "float16")
        T.copy(s0, A2[bx * 32])
        T.copy(f1, A3[bx * 124, 0])
        T.copy(s2, A4[bx * 32])
