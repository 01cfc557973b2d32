# run: --target="cuda -arch=sm_80"
# expect: f: fragment uint8[32, 64], fragment[32, 64] threads 128 (i, j) -> thread i % 4 * 32 + j // 2, slot (i // 4 * 2 + j % 2)
import tilelang
import tilelang.language as T


# A byte lies with the thread that makes both of its numbers, not with all threads.
@tilelang.jit
def halves(M=32, N=128):
    @T.prim_func
    def main(X: T.Tensor((M, N // 2), "uint8"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as b:
            f = T.alloc_fragment((M, N // 2), "uint8")
            g = T.alloc_fragment((M, N), "float32")
            T.copy(X, f)
            for i, j in T.Parallel(M, N):
                g[i, j] = T.cast((f[i, j // 2] >> (j % 2 * 4)) & 15, "float32")
            T.copy(g, Y)

    return main
