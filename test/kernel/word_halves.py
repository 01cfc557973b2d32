# Halves of words in a fragment are read and written two at a time by loops inside of a nest.
# verify:
# verify: M=50 K=40
# verify: threads=256
import tilelang
import tilelang.language as T


@tilelang.jit
def transposed(M=64, K=64, threads=128):
    @T.prim_func
    def main(A: T.Tensor((M, K), "bfloat16"), B: T.Tensor((K, 64), "bfloat16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=threads):
            a = T.alloc_shared((64, 64), "bfloat16")
            w = T.alloc_shared((64, 64), "bfloat16")
            x = T.alloc_shared((64, 64), "bfloat16")
            acc = T.alloc_fragment((64, 64), "float32")
            half = T.alloc_fragment((64, 64), "uint16")
            word = T.alloc_fragment((64, 64), "uint32")
            T.copy(A[0, 0], a)
            T.copy(B[0, 0], w)
            T.gemm(a, w, acc, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
            for i, j in T.Parallel(64, 64):
                bits = T.reinterpret(acc[i, j], dtype="uint32")
                half[i, j] = bits >> 16
            for i, j in T.Parallel(64, 32):
                for v in T.vectorized(2):
                    x[i, j * 2 + v] = T.reinterpret(half[i, j * 2 + v], dtype="bfloat16")
            for i, j in T.Parallel(64, 32):
                for v in T.vectorized(2):
                    half[i, j * 2 + v] = T.reinterpret(x[j * 2 + v, i], dtype="uint16")
            for i, j in T.Parallel(64, 64):
                word[i, j] = half[i, j] << 16
                acc[i, j] -= T.reinterpret(word[i, j], dtype="float32")
            T.copy(acc, C[0, 0])

    return main
