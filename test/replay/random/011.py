# random kernel 11
import tilelang
import tilelang.language as T


@T.prim_func
def main(A0: T.Tensor((295, 40,), "bfloat16"), A1: T.Tensor((288, 40,), "bfloat16"), A2: T.Tensor((288, 40,), "float16"), A3: T.Tensor((120, 96,), "bfloat16")):
    with T.Kernel(3, threads=128) as bx:
        s0 = T.alloc_shared((96, 40,), "bfloat16")
        f1 = T.alloc_fragment((96, 40,), "float16")
        s2 = T.alloc_shared((40, 96,), "bfloat16")
        T.copy(A0[bx * 96, 0], s0)
        T.copy(s0, f1)
        T.transpose(s0, s2)
        T.copy(s0, A1[bx * 96, 0])
        T.copy(f1, A2[bx * 96, 0])
        T.copy(s2, A3[bx * 40, 0])
