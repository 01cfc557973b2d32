# Which row is reduced is known only at run time, and registers have no addresses.
# target: cuda -arch=sm_80
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4, 256), "float32"), B: T.Tensor((4,), "float32")):
    with T.Kernel(1, threads=128):
        x = T.alloc_fragment((4, 256), "float32")
        y = T.alloc_fragment((1,), "float32")
        T.copy(A, x)
        for i in T.serial(4):
            T.reduce_sum(x[i, 0:256], y, dim=1)  # warning: slow
            B[i] = y[0]
