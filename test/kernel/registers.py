# How many registers producers give away and consumers take; by what is asked for nothing changes.
# verify: :moved
# verify: :moved give=40
# verify: :moved take=232
# verify: :moved give=32 take=216
# verify: :moved give=24 take=216 threads=128
# verify: :moved give=40 threads=384
# verify: :moved give=40 keep=1
# verify: :moved give=248 take=240 --sm_90a=register-pool --sm_100a=register-pool --sm_103a=register-pool
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def moved(M=192, N=128, K=96, give=0, take=0, keep=0, threads=256):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            a = T.alloc_shared((M, 32), "float16")
            b = T.alloc_shared((N, 32), "float16")
            c = T.alloc_fragment((M, N), "float32")
            if give:
                T.annotate_producer_reg_dealloc(give)
            if take:
                T.annotate_consumer_reg_alloc(take)
            if keep:
                T.disable_warp_group_reg_alloc()
            T.clear(c)
            for k in T.Pipelined(K // 32, num_stages=2):
                T.copy(A[0, k * 32], a)
                T.copy(B[0, k * 32], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C)

    return main
