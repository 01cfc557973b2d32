# A machine with dot products of bytes uses them.
# run: dtype=int8 accum=int32 --target="cpu -mcpu=neoverse-n1"
# expect: sdot
# refuse: simd
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=64, N=64, K=64, b=32, dtype="float32", accum="float32", ta=False, tb=False):
    @T.prim_func
    def main(
        A: T.Tensor((K, M) if ta else (M, K), dtype),
        B: T.Tensor((N, K) if tb else (K, N), dtype),
        C: T.Tensor((M, N), accum),
    ):
        with T.Kernel(T.ceildiv(N, b), T.ceildiv(M, b), threads=128) as (bx, by):
            a = T.alloc_shared((b, b), dtype)
            s = T.alloc_shared((b, b), dtype)
            c = T.alloc_fragment((b, b), accum)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, b), num_stages=2):
                if ta:
                    T.copy(A[k * b, by * b], a)
                else:
                    T.copy(A[by * b, k * b], a)
                if tb:
                    T.copy(B[bx * b, k * b], s)
                else:
                    T.copy(B[k * b, bx * b], s)
                T.gemm(a, s, c, transpose_A=ta, transpose_B=tb)
            T.copy(c, C[by * b, bx * b])

    return main
