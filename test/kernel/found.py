# What random kernels brought to light, each as small as it would go.
# verify: :branch_store
# verify: :lone_copy
# verify: :scan_to_new
# verify: :rewritten_tensor
import tilelang
import tilelang.language as T


# A store in a branch changes what a later statement loads.
@tilelang.jit
def branch_store(M=16, N=256):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((M, N), "float32")
            T.copy(A, s)
            for i, j in T.Parallel(M, N):
                if j % 2 == 0:
                    s[i, j] = s[i, j] * -0.5
            for i, j in T.Parallel(M, N):
                s[i, j] = T.max(s[i, j], -1.0)
            T.copy(s, B)

    return main


# A copy that is all there is under a condition.
@tilelang.jit
def lone_copy(M=32, N=64):
    @T.prim_func
    def main(A: T.Tensor((2, M, N), "float16"), B: T.Tensor((2, M, N), "float16")):
        with T.Kernel(2, threads=128) as bx:
            s = T.alloc_shared((M, N), "float16")
            T.clear(s)
            if bx == 1:
                T.copy(A[1, 0, 0], s)
            T.copy(s, B[bx, 0, 0])

    return main


# The result of a scan need not hold anything before it.
@tilelang.jit
def scan_to_new(M=20, N=24):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=96) as bx:
            x = T.alloc_fragment((M, N), "float32")
            y = T.alloc_fragment((M, N), "float32")
            T.copy(A, x)
            T.cummax(x, y, dim=1)
            T.copy(y, B)

    return main


# A tensor that the block writes twice and reads back, each time by other threads.
@tilelang.jit
def rewritten_tensor(N=96):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), W: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=96) as bx:
            T.fill(W, -1.0)
            for i in T.Parallel(N - 1):
                W[i + 1] = A[N - 1 - i]
            for i in T.Parallel(N):
                B[i] = W[N - 1 - i]

    return main
