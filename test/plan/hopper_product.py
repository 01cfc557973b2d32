# A GEMM on Hopper: operands by TMA through a producer, wgmma left in flight, result by TMA.
# run: --target="cuda -arch=sm_90a"
# expect: copy A, A_s (line 22): tma
# expect: copy B, B_s (line 23): tma
# expect: m64n128k16 ss, 1 x 1 warpgroups of 128 x 128, left in flight
# expect: #6: tma
# expect: A_s: shared bfloat16[3, 128, 64], layout[3, 128, 64] (i, j, k) -> (i, j, j % 8 ^ k // 8, k % 8) "swizzle 128B"
# refuse: scalar
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((512, 256), "bfloat16"), B: T.Tensor((256, 512), "bfloat16"),
         C: T.Tensor((512, 512), "bfloat16")):
    with T.Kernel(4, 4, threads=128) as (bx, by):
        A_s = T.alloc_shared((128, 64), "bfloat16")
        B_s = T.alloc_shared((64, 128), "bfloat16")
        C_l = T.alloc_fragment((128, 128), "float32")
        T.clear(C_l)
        for k in T.Pipelined(4, num_stages=3):
            T.copy(A[by * 128, k * 64], A_s)
            T.copy(B[k * 64, bx * 128], B_s)
            T.gemm(A_s, B_s, C_l)
        T.copy(C_l, C[by * 128, bx * 128])
