import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        x = T.alloc_var("int32")
        x = "abc"  # error: not-a-number
        A[0] = 1.0
