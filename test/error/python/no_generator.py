import tilelang
import tilelang.language as T


def gen():
    yield 1


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=32) as bx:
        A[0] = sum(gen())  # error: no-generator
