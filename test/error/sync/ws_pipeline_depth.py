import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32):
        s = T.alloc_shared((64,), "float32")
        T.annotate_ws_pipeline_depth({s: 2})  # warning: ignored
        T.copy(A, s)
        T.copy(s, A)
