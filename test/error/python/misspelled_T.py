import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensr((64,), "float32")):  # error: no-such-name
    with T.Kernel(1, threads=32) as bx:
        X[0] = 1.0
