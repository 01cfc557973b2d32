# A product that starts before the launch it depends on has ended: its threads wait for that one, and
# so does the warp that brings the tiles.
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[2])
def pdl(M=128, N=128, K=256, b=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(N // b, M // b, threads=128) as (bx, by):
            T.pdl_sync()
            A_s = T.alloc_shared((b, b), "float16")
            B_s = T.alloc_shared((b, b), "float16")
            C_l = T.alloc_fragment((b, b), "float32")
            T.clear(C_l)
            for k in T.Pipelined(K // b, num_stages=3):
                T.copy(A[by * b, k * b], A_s)
                T.copy(B[bx * b, k * b], B_s)
                T.gemm(A_s, B_s, C_l, transpose_B=True)
            T.pdl_trigger()
            T.copy(C_l, C[by * b, bx * b])

    return main
