import tilelang.language as T


@T.macro
def scale(x: T.FragmentBuffer((32,), "float32")):
    for i in T.Parallel(64):
        x[i] = x[i] * 2


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32):
        r = T.alloc_fragment((64,), "float32")
        T.copy(A, r)
        scale(r)  # warning: macro-argument
        T.copy(r, A)
