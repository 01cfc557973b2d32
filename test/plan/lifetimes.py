# Two tiles that never live at once share their place; one that does not, has its own.
# expect: a: shared float32[64], 256 bytes at 0
# expect: b: shared float32[64], 256 bytes at 256
# expect: c: shared float32[64], 256 bytes at 0
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        a = T.alloc_shared((64,), "float32")
        b = T.alloc_shared((64,), "float32")
        c = T.alloc_shared((64,), "float32")
        T.copy(A, a)
        for i in T.Parallel(64):
            b[i] = a[63 - i]
        for i in T.Parallel(64):
            c[i] = b[63 - i] * 2
        for i in T.Parallel(64):
            B[i] = c[63 - i]
