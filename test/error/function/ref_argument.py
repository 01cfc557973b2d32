import tilelang
import tilelang.language as T


@T.macro
def bump(x: T.Ref[T.int32]):
    x += 1


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=32) as bx:
        bump(3)  # error: ref-argument
