import tilelang
import tilelang.language as T


@T.prim_func
def main(A: "T.Tensr((64,), T.float32)"):  # error: no-such-name
    with T.Kernel(1, threads=64):
        A[0] = 1.0
