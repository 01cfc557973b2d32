# run: --target="cuda -arch=sm_80"
# expect: copy A, a (line 13): cp.async, up to 16 bytes at a time, 1 iteration ahead
# refuse: it cannot move
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 128), "int4"), C: T.Tensor((64, 32), "int32")):
    with T.Kernel(2, threads=64) as bx:
        a, c = T.alloc_shared((32, 32), "int4"), T.alloc_fragment((32, 32), "int32")
        T.clear(c)
        for k in T.Pipelined(4, num_stages=2):
            T.copy(A[bx * 32, k * 32], a)
            for i, j in T.Parallel(32, 32):
                c[i, j] += T.cast(a[i, j], "int32")
        T.copy(c, C[bx * 32, 0])
