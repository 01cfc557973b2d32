import tilelang
import tilelang.language as T


@T.prim_func
def main(*args):  # error: star-parameter
    with T.Kernel(4, threads=32) as bx:
        pass
