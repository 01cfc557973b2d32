# target: cuda -arch=sm_90a
import tilelang.language as T


@T.prim_func
def f(W: T.Tensor((64, 8), "uint32"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        w = T.alloc_shared((64, 8), "uint32")
        b = T.alloc_shared((64, 64), "float16")
        pairs = T.alloc_fragment((64, 32), "uint32")
        halves = T.view(pairs, (64, 64), "float16")  # error: layout-conflict
        a = T.alloc_fragment((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(W, w)
        T.copy(B, b)
        for i, j in T.Parallel(64, 32):
            pairs[i, j] = w[i, j // 4] >> (j % 4 * 4) & T.uint32(0x000F000F)
        for i, j in T.Parallel(64, 64):
            a[i, j] = halves[i, j] * 2
        T.clear(c)
        T.gemm(a, b, c)
        T.copy(c, C)
