import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=128) as bx:
        b = T.alloc_barrier([128, 128])
        T.barrier_arrive(b[2])  # error: out-of-bounds
        X[0] = 1.0
