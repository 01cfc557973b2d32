# A kernel that knows where an accumulator lies: each thread sums its own part, under an index that names the thread.
# test/gpu/reduce.sh looks at where the sums lie.
import tilelang
import tilelang.language as T


@tilelang.jit
def sums(M=64, N=64, K=64, b=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "bfloat16"), B: T.Tensor((K, N), "bfloat16"), H: T.Tensor((M, N), "bfloat16"),
             C: T.Tensor((M, N), "float32"), S: T.Tensor((1,), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((b, 64), "bfloat16")
            w = T.alloc_shared((64, 64), "bfloat16")
            h = T.alloc_shared((b, 64), "bfloat16")
            acc = T.alloc_fragment((b, 64), "float32")
            part = T.alloc_fragment((128, 2), "float32")
            total = T.alloc_fragment((1,), "float32")
            T.copy(A[0, 0], a)
            T.copy(B[0, 0], w)
            T.copy(H[0, 0], h)
            T.gemm(a, w, acc, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
            T.clear(part)
            for i, j in T.Parallel(b, 64):
                part[i % 64 // 16 * 32 + i % 8 * 4 + j % 8 // 2, j % 2] += acc[i, j] * h[i, j]
            T.reduce_sum(T.reshape(part, (256,)), total, dim=0, clear=True)
            T.copy(acc, C[0, 0])
            T.copy(total, S)

    return main
