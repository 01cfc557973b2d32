import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32), B: T.Tensor((64, 64), T.float16)):
    with T.Kernel(1, threads=128) as bx:
        r = T.alloc_fragment((64,), T.float32)
        T.atomic_add(r[0], 1.0)  # error: atomic-scope
