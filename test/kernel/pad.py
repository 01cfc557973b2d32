# pad= on shared tiles: rows with unused elements after them, on every path that touches a tile.
# verify: :turned pad=1
# verify: :turned pad=3 dtype=int8
# verify: :turned pad=8 dtype=float16
# verify: :turned pad=2 dtype=int4
# verify: :product pad=8
# verify: :product pad=1
# verify: :product pad=8 dtype=bfloat16 S=2
# verify: :sums pad=1
# verify: :boxes pad=5
# verify: :view pad=4
import tilelang
import tilelang.language as T


@tilelang.jit
def turned(N=64, pad=1, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((N, N), dtype), Y: T.Tensor((N, N), dtype)):
        with T.Kernel(N // 32, N // 32, threads=64) as (bx, by):
            s = T.alloc_shared((32, 32), dtype, pad=pad)
            T.copy(X[by * 32, bx * 32], s)
            for i, j in T.Parallel(32, 32):
                Y[bx * 32 + i, by * 32 + j] = s[j, i]

    return main


@tilelang.jit
def product(M=96, N=64, K=64, pad=8, S=1, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=128) as (bx, by):
            a = T.alloc_shared((64, 32), dtype, pad=pad)
            b = T.alloc_shared((32, 64), dtype, pad=pad)
            c = T.alloc_fragment((64, 64), "float32")
            out = T.alloc_shared((64, 64), "float32", pad=pad)
            T.clear(c)
            for k in T.Pipelined(K // 32, num_stages=S):
                T.copy(A[by * 64, k * 32], a)
                T.copy(B[k * 32, bx * 64], b)
                T.gemm(a, b, c)
            T.copy(c, out)
            T.copy(out, C[by * 64, bx * 64])

    return main


@tilelang.jit
def sums(M=48, N=40, pad=1):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=64) as b:
            s = T.alloc_shared((M, N), "float32", pad=pad)
            y = T.alloc_fragment((N,), "float32")
            T.copy(X, s)
            T.reduce_sum(s, y, dim=0)
            T.copy(y, Y)

    return main


@tilelang.jit
def boxes(pad=5):
    @T.prim_func
    def main(X: T.Tensor((4, 8, 16), "float32"), Y: T.Tensor((4, 16, 8), "float32")):
        with T.Kernel(1, threads=32) as b:
            s = T.alloc_shared((4, 8, 16), "float32", pad=pad)
            T.copy(X, s)
            for i, j, k in T.Parallel(4, 16, 8):
                Y[i, j, k] = s[i, k, j]

    return main


@tilelang.jit
def view(pad=4):
    """To another shape the elements follow each other as if there were no padding."""
    @T.prim_func
    def main(X: T.Tensor((8, 16), "float32"), Y: T.Tensor((4, 32), "float32")):
        with T.Kernel(1, threads=32) as b:
            s = T.alloc_shared((8, 16), "float32", pad=pad)
            v = T.reshape(s, (4, 32))
            T.copy(X, s)
            for i, j in T.Parallel(4, 32):
                Y[i, j] = v[i, 31 - j]

    return main
