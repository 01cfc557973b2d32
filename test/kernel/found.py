# What random kernels brought to light, each as small as it would go.
# verify: :branch_store
# verify: :lone_copy
# verify: :scan_to_new
# verify: :rewritten_tensor
# verify: :half_tile
# verify: :ragged_result
# verify: :ragged_result M=3 N=9 K=16
# verify: :own_column
# verify: :ragged_sum
# verify: :ragged_sum N=1000 dtype=float16
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


# Half the rows of a matrix instruction: registers of which every second pair holds nothing.
@tilelang.jit
def half_tile(M=8, N=29, K=32):
    @T.prim_func
    def main(A: T.Tensor((K, M), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=96) as bx:
            a = T.alloc_shared((K, M), "float16")
            b = T.alloc_shared((N, K), "float16")
            c = T.alloc_fragment((M, N), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a, b, c, transpose_A=True, transpose_B=True)
            T.copy(c, C)

    return main


# A result that ends in the middle of the instruction, stored to a tensor that ends before it.
@tilelang.jit
def ragged_result(M=24, N=170, K=12):
    @T.prim_func
    def main(A: T.Tensor((K, M), "bfloat16"), B: T.Tensor((K, N), "bfloat16"), C: T.Tensor((M - 1, N - 8), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((K, M), "bfloat16")
            b = T.alloc_shared((K, N), "bfloat16")
            c = T.alloc_fragment((M, N), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a, b, c, transpose_A=True)
            T.copy(c, C[0, 0])

    return main


@tilelang.jit
def own_column(M=77, N=53):
    """Where j < 1 the element read is that of column 0, which another thread may hold."""
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=384) as bx:
            f = T.alloc_fragment((M, N), "float32")
            T.copy(X, f)
            for i, j in T.Parallel(M, N):
                f[i, j] = T.if_then_else(j < 1, f[i, j] * -0.5, -2.0)
            T.copy(f, Y)

    return main


@tilelang.jit
def ragged_sum(N=1500, dtype="float32"):
    """Loads come before the guard of the store they are for; they stay inside their tensors too."""
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, 1024), threads=128) as bx:
            for i in T.Parallel(1024):
                C[bx * 1024 + i] = A[bx * 1024 + i] + B[bx * 1024 + i]

    return main
