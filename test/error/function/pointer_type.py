import tilelang.language as T


@T.prim_func
def main(p: T.ptr(T.float16), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32):
        A = T.make_tensor(p, (64,), "float32")  # warning: pointer-type
        for i in T.Parallel(64):
            B[i] = A[i]
