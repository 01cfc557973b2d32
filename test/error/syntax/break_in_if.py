import tilelang
import tilelang.language as T


@T.prim_func
def main(n: T.int32):
    with T.Kernel(4, threads=128) as bx:
        if n > 3:
            break  # error: syntax
