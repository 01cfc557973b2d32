import tilelang
import tilelang.language as T


@T.macro
def two(X):
    return X[0], X[1]


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        a, b, c = two(X)  # error: unpack-count
        X[2] = a
