# Nothing but the GEMM touches the accumulator: it lives in C.
# run: M=96
# expect: fill c: view, the first GEMM overwrites the tile
# expect: copy c, C: view, the accumulator lives in the tensor it is stored to
# gone: c: fragment
import tilelang
import tilelang.language as T


@tilelang.jit
def home(M=160, N=160, K=320, b=160, relu=False):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, b), T.ceildiv(M, b), threads=128) as (bx, by):
            a = T.alloc_shared((b, b), "float32")
            s = T.alloc_shared((b, b), "float32")
            c = T.alloc_fragment((b, b), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, b), num_stages=2):
                T.copy(A[by * b, k * b], a)
                T.copy(B[k * b, bx * b], s)
                T.gemm(a, s, c)
            if relu:
                for i, j in T.Parallel(b, b):
                    c[i, j] = T.max(c[i, j], 0)
            T.copy(c, C[by * b, bx * b])

    return main
