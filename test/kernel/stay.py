# Products on Hopper: persistent kernels, multi-buffering, results by bulk stores.
# verify: :stay --warns=ignored
# verify: :stay stages=1 --warns=ignored
# verify: :stay stages=2 M=64 N=64 K=32 --warns=ignored
# verify: :stay stages=4 N=704 bn=192 --warns=ignored
# verify: :stay threads=256 bm=128 bn=128 M=400 N=520 --warns=ignored
# verify: :stay K=8 N=328 bn=128 --warns=ignored
# verify: :stay bn=80 --warns=ignored
# verify: :no_room --warns=ignored --gfx90a=on-chip-bytes --gfx942=on-chip-bytes --sm_120a=on-chip-bytes
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1], pass_configs={"tl.persistent_blocks": 2})
def stay(M=300, N=200, K=200, bm=64, bn=64, stages=3, threads=128):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=threads) as (bx, by):
            A_s = T.alloc_shared((bm, 32), "float16")
            B_s = T.alloc_shared((32, bn), "float16")
            C_l = T.alloc_fragment((bm, bn), "float32")
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, 32), num_stages=stages):
                T.copy(A[by * bm, k * 32], A_s)
                T.copy(B[k * 32, bx * bn], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * bm, bx * bn])

    return main


# The result goes through a tile that has room only where the stages were: such kernels are not persistent.
@tilelang.jit(out_idx=[-1], pass_configs={"tl.persistent_blocks": 2})
def no_room(M=256, N=512, K=192, bm=128, bn=256, bk=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=256) as (bx, by):
            A_s = T.alloc_shared((bm, bk), "float16")
            B_s = T.alloc_shared((bk, bn), "float16")
            C_s = T.alloc_shared((bm, bn), "float32")
            C_l = T.alloc_fragment((bm, bn), "float32")
            T.use_swizzle(4)
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=3):
                T.copy(A[by * bm, k * bk], A_s)
                T.copy(B[k * bk, bx * bn], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C_s)
            T.copy(C_s, C[by * bm, bx * bn])

    return main
