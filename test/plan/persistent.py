# More tiles than the GPU has multiprocessors: each block takes one after the other, as plan_persistent says.
# run: --target="cuda -arch=sm_90a"
# The clearing of C_l and its copy to C are other statements by then: what is gone has no plan.
# refuse: fill C_l
# refuse: copy C_l, C (
# expect: kernel main_kernel: 256 threads, persistent in 132 blocks
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((2048, 256), "bfloat16"), B: T.Tensor((256, 2048), "bfloat16"),
         C: T.Tensor((2048, 2048), "bfloat16")):
    with T.Kernel(16, 16, threads=256) as (bx, by):
        A_s = T.alloc_shared((128, 64), "bfloat16")
        B_s = T.alloc_shared((64, 128), "bfloat16")
        C_l = T.alloc_fragment((128, 128), "float32")
        T.clear(C_l)
        for k in T.Pipelined(4, num_stages=3):
            T.copy(A[by * 128, k * 64], A_s)
            T.copy(B[k * 64, bx * 128], B_s)
            T.gemm(A_s, B_s, C_l)
        T.copy(C_l, C[by * 128, bx * 128])
