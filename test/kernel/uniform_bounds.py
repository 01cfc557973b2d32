# Pipelines whose bounds and addresses are variables that all threads set alike, and of which some are set otherwise.
# verify: :span
# verify: :span stages=3 threads=256 M=256
# verify: :moving
# verify: :moving stages=3
# verify: :found
# verify: :drawn
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def span(M=128, N=64, K=64, Q=2, stages=2, threads=128):
    """Rows of A from the least start to the greatest end of the block's queries."""
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((4 * N, K), "float16"), First: T.Tensor((4 * Q,), "int32"),
             Last: T.Tensor((4 * Q,), "int32"), C: T.Tensor((4, 64, N), "float32")):
        with T.Kernel(4, threads=threads) as bx:
            a = T.alloc_shared((64, K), "float16")
            b = T.alloc_shared((N, K), "float16")
            s = T.alloc_fragment((64, N), "float32")
            low = T.alloc_var("int32")
            high = T.alloc_var("int32")
            low = 2147483647
            high = -2147483648
            for q in T.serial(Q):
                low = T.min(low, T.max(T.min(First[bx * Q + q], M // 2), 0))
            for q in T.serial(Q):
                if Last[bx * Q + q] > high:
                    high = T.min(Last[bx * Q + q], M)
            high = T.max(high, low + 70)
            T.copy(B[bx * N, 0], b)
            T.clear(s)
            for k in T.Pipelined(T.ceildiv(high - low, 64), num_stages=stages):
                T.copy(A[low + k * 64, 0], a)
                T.gemm(a, b, s, transpose_B=True)
            T.copy(s, C[bx, 0, 0])

    return main


@tilelang.jit(out_idx=[-1])
def moving(M=512, N=64, K=64, stages=2, threads=128):
    """The loop itself moves on the variables that its bound and its copies were made of."""
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), Step: T.Tensor((2,), "int32"),
             C: T.Tensor((2, 64, N), "float32")):
        with T.Kernel(2, threads=threads) as bx:
            a = T.alloc_shared((64, K), "float16")
            b = T.alloc_shared((N, K), "float16")
            s = T.alloc_fragment((64, N), "float32")
            at = T.alloc_var("int32")
            n = T.alloc_var("int32")
            at = bx * 64
            n = 3 + bx
            T.copy(B, b)
            T.clear(s)
            for k in T.Pipelined(n, num_stages=stages):
                T.copy(A[at, 0], a)
                T.gemm(a, b, s, transpose_B=True)
                at = at + 32 + T.max(T.min(Step[bx], 64), 0)
                n = 1
            for i, j in T.Parallel(64, N):
                C[bx, i, j] = s[i, j] + n
    return main


@tilelang.jit(out_idx=[-1])
def found(M=256, N=64, K=64, stages=2, threads=128):
    """What a tile holds decides how far the loop goes: no producer could tell."""
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), W: T.Tensor((2, 64), "int32"),
             C: T.Tensor((2, 64, N), "float32")):
        with T.Kernel(2, threads=threads) as bx:
            a = T.alloc_shared((64, K), "float16")
            b = T.alloc_shared((N, K), "float16")
            w = T.alloc_shared((64,), "int32")
            s = T.alloc_fragment((64, N), "float32")
            n = T.alloc_var("int32")
            T.copy(W[bx, 0], w)
            T.copy(B, b)
            T.clear(s)
            n = 1
            if w[3] > 0:
                n = 2 + bx
            for k in T.Pipelined(n, num_stages=stages):
                T.copy(A[k * 64, 0], a)
                T.gemm(a, b, s, transpose_B=True)
            T.copy(s, C[bx, 0, 0])

    return main


@tilelang.jit(out_idx=[-1])
def drawn(M=256, N=64, K=64, stages=2, threads=128):
    """A sum over a fragment gives the bound."""
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), W: T.Tensor((64,), "int32"),
             C: T.Tensor((64, N), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            a = T.alloc_shared((64, K), "float16")
            b = T.alloc_shared((N, K), "float16")
            w = T.alloc_fragment((64,), "int32")
            most = T.alloc_fragment((1,), "int32")
            s = T.alloc_fragment((64, N), "float32")
            T.copy(W, w)
            T.copy(B, b)
            T.clear(s)
            T.reduce_max(w, most, dim=0)
            for k in T.Pipelined(T.min(T.max(most[0], 2), 4), num_stages=stages):
                T.copy(A[k * 64, 0], a)
                T.gemm(a, b, s, transpose_B=True)
            T.copy(s, C)

    return main
