# A tile is read where nobody wrote.
# refused: [uninitialised]
# verify: --warns=read-before-write
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((16,), "float32")):
    with T.Kernel(1, threads=16) as bx:
        s = T.alloc_shared((16,), "float32")
        for i in T.Parallel(16):
            A[i] = s[i]
