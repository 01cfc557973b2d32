# A row that is read after a reduction stays in shared memory where the kernel's fragments take the registers that
# leave room for other blocks.
# run: --target="cuda -arch=sm_90a"
# expect: copy G, g (line 20): plain, every block reads the same
# expect: g: shared
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[2])
def main(M=4096, N=8192):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float16"), G: T.Tensor((N,), "float16"), Y: T.Tensor((M, N), "float16")):
        with T.Kernel(M, threads=256) as bx:
            g = T.alloc_shared((N,), "float16")
            x = T.alloc_fragment((1, N), "float32")
            squares = T.alloc_fragment((1, N), "float32")
            total = T.alloc_fragment((1,), "float32")
            for i, j in T.Parallel(1, N):
                x[i, j] = T.cast(X[bx + i, j], "float32")
            T.copy(G, g)
            for i, j in T.Parallel(1, N):
                squares[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(squares, total, dim=1)
            for i, j in T.Parallel(1, N):
                Y[bx + i, j] = x[i, j] * T.rsqrt(total[0]) * g[j]

    return main
