# Pipelined loops whose copies asynchronous ones may not do: gathers, conditions, padded rows, odd widths, beside copies that run ahead.
# verify: :gathered
# verify: :gathered stages=3 R=77 M=100 N=90 K=200
# verify: :gathered stages=4 dtype=bfloat16
# verify: :gathered threads=256 bk=32
# verify: :padded stages=2
# verify: :padded stages=3 K=200 M=70
# verify: :padded stages=3 pad=1 dtype=int8 acc=int32
# verify: :masked
# verify: :masked stages=3 K=130
# verify: :windows stages=3
import tilelang
import tilelang.language as T


@tilelang.jit
def gathered(R=50, M=64, N=64, K=256, bm=64, bn=64, bk=64, stages=2, dtype="float16", threads=128):
    """Rows of A by their number, rows of B as they are."""
    @T.prim_func
    def main(A: T.Tensor((R, K), dtype), I: T.Tensor((M,), "int32"), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=threads) as (bx, by):
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bn, bk), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
                for i, j in T.Parallel(bm, bk):
                    a[i, j] = T.if_then_else(T.And(by * bm + i < M, k * bk + j < K), A[T.abs(I[by * bm + i]) % R, k * bk + j], 0)
                T.copy(B[bx * bn, k * bk], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def padded(M=64, N=64, K=256, bm=32, bn=32, bk=64, pad=8, stages=3, dtype="float16", acc="float32"):
    """Rows of A with a gap after each, rows of B without."""
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), acc)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), dtype, pad=pad)
            b = T.alloc_shared((bn, bk), dtype)
            c = T.alloc_fragment((bm, bn), acc)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[bx * bn, k * bk], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def masked(M=64, N=48, K=192, bk=32, stages=2):
    """A lower triangle of A: its condition knows the iteration."""
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((M, bk), "float16")
            b = T.alloc_shared((bk, N), "float16")
            c = T.alloc_fragment((M, N), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
                for i, j in T.Parallel(M, bk):
                    a[i, j] = T.if_then_else(T.And(k * bk + j < K, k * bk + j <= 3 * i), A[i, k * bk + j], 0)
                T.copy(B[k * bk, 0], b)
                T.gemm(a, b, c)
            T.copy(c, C)

    return main


@tilelang.jit
def windows(L=90, C=32, F=32, W=5, stages=2):
    """A convolution along one axis: the first loop's tile starts at another row in each iteration."""
    @T.prim_func
    def main(X: T.Tensor((L, C), "float16"), K: T.Tensor((W, C, F), "float16"), Y: T.Tensor((L - W + 1, F), "float32")):
        with T.Kernel(T.ceildiv(L - W + 1, 32), threads=128) as bx:
            x = T.alloc_shared((32, C), "float16")
            k = T.alloc_shared((C, F), "float16")
            y = T.alloc_fragment((32, F), "float32")
            T.clear(y)
            for w in T.Pipelined(W, num_stages=stages):
                for i, j in T.Parallel(32, C):
                    x[i, j] = T.if_then_else(bx * 32 + i + w < L, X[bx * 32 + i + w, j], 0)
                T.copy(K[w, 0, 0], k)
                T.gemm(x, k, y)
            T.copy(y, Y[bx * 32, 0])

    return main
