# random kernel 7
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((114,), "float16"), A1: T.Tensor((40,), "float16"), A2: T.Tensor((56,), "float32"), A3: T.Tensor((145, 25,), "float16")):
    with T.Kernel(1, threads=256) as bx:
        s0 = T.alloc_shared((110,), "float16")
        s1 = T.alloc_shared((64,), "float32")
        s2 = T.alloc_shared((160, 25,), "float16")
        T.copy(A0[4], s0)
        T.fill(s1, -3)
        T.clear(s2)
        T.copy(s0, A1[0])
        T.copy(s1, A2[0])
        T.copy(s2, A3[0, 0])
