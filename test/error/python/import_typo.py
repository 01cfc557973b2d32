import tilelang
import tilelang.language as T


import tilelang.langauge as L


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        X[0] = L.exp(X[0])  # error: opaque-value
