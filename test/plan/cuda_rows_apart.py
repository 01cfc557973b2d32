# Rows of a fragment written one by one, then reduced: no layout is converted, whichever way the nests go.
# run: --target="cuda -arch=sm_90a"
# expect: reduce x_f, total (line 21): shuffle
# refuse: layout conversion
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[1])
def main(M=64, N=4096, rows=4):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float16"), Y: T.Tensor((M,), "float32")):
        with T.Kernel(T.ceildiv(M, rows), threads=256) as bx:
            x = T.alloc_shared((rows, N), "float16")
            x_f = T.alloc_fragment((rows, N), "float32")
            total = T.alloc_fragment((rows,), "float32")
            T.copy(X[bx * rows, 0], x)
            for i in T.serial(rows):
                for j in T.Parallel(N):
                    x_f[i, j] = T.cast(x[i, j], "float32")
            T.reduce_sum(x_f, total, dim=1)
            T.copy(total, Y[bx * rows])

    return main
