import tilelang
import tilelang.language as T


@T.macro
def find(X):
    for i in T.serial(64):
        if X[i] > 0.0:
            return i  # error: return-in-branch


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        X[find(X)] = 1.0
