import tilelang
import tilelang.language as T


@T.macro
def ping(X):
    pong(X)  # error: too-deep


@T.macro
def pong(X):
    ping(X)


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        ping(X)
