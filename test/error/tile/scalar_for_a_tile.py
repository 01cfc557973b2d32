import tilelang
import tilelang.language as T


@T.prim_func
def main(s: T.float32):
    with T.Kernel(4, threads=128) as bx:
        T.clear(s)  # error: not-a-tile
