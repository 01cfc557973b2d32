# Rows that every thread reads its own part of are loaded to registers: no copy engine, no barrier, 16 bytes at a time.
# run: --target="cuda -arch=sm_90a"
# expect: copy X, x (line 19): plain
# expect: x: fragment float16[8, 512], fragment[8, 512] threads 256 (i, j) -> thread i * 32 + j // 8 % 32
# expect: reduce x_f, total (line 23): shuffle, 16 slots of each thread to 1, lanes xor 1, 2, 4, 8, 16
# refuse: layout conversion
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[1])
def main(M=64, N=512, rows=8):
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
