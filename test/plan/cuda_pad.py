# run: --target="cuda -arch=sm_80"
# expect: s: shared float32[32, 32], layout[32, 32] (i, j) -> (i * 33 + j) "padded", 4220 bytes at 0
import tilelang
import tilelang.language as T


@tilelang.jit
def turned(N=64):
    @T.prim_func
    def main(X: T.Tensor((N, N), "float32"), Y: T.Tensor((N, N), "float32")):
        with T.Kernel(N // 32, N // 32, threads=64) as (bx, by):
            s = T.alloc_shared((32, 32), "float32", pad=1)
            T.copy(X[by * 32, bx * 32], s)
            for i, j in T.Parallel(32, 32):
                Y[bx * 32 + i, by * 32 + j] = s[j, i]

    return main
