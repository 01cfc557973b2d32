# What is read once for a row says nothing of how wide the row goes.
# run: --target="cuda -arch=sm_90a"
# expect: f: fragment int8[64, 64], fragment[64, 64] threads 128 (i, j) -> thread i % 32 * 4 + j // 16
# expect: g: fragment float16[64, 64], fragment[64, 64] threads 128 (i, j) -> thread i % 32 * 4 + j // 16
import tilelang
import tilelang.language as T


@tilelang.jit
def main(M=64, N=64):
    @T.prim_func
    def main(B: T.Tensor((M, N), "int8"), S: T.Tensor((M,), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(1, threads=128):
            f = T.alloc_fragment((M, N), "int8")
            g = T.alloc_fragment((M, N), "float16")
            T.copy(B, f)
            for i, j in T.Parallel(M, N):
                g[i, j] = f[i, j].astype("float16") * S[i]
            T.copy(g, C)

    return main
