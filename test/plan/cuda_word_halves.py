# Loops inside of a nest, over neighbours that one thread holds: the nest runs where the fragment lies.
# run: --target="cuda -arch=sm_90a"
# refuse: layout conversion
import tilelang
import tilelang.language as T


@tilelang.jit
def pairs():
    @T.prim_func
    def main(A: T.Tensor((64, 64), "bfloat16"), B: T.Tensor((64, 64), "bfloat16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "bfloat16")
            b = T.alloc_shared((64, 64), "bfloat16")
            x = T.alloc_shared((64, 64), "bfloat16")
            acc = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, acc, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
            for i, j in T.Parallel(64, 32):
                for v in T.vectorized(2):
                    x[i, j * 2 + v] = acc[i, j * 2 + v]
            for i, j in T.Parallel(64, 32):
                for v in T.vectorized(2):
                    acc[i, j * 2 + v] = x[j * 2 + v, i]
            T.copy(acc, C)

    return main
