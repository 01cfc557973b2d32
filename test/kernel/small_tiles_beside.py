# Two warpgroups with small accumulators and few stages: two blocks fit a multiprocessor, and one works
# while the other waits.  Neither persistent nor with all registers.
# verify: :grouped
# verify: :grouped rows=40
import tilelang
import tilelang.language as T


@tilelang.jit
def grouped(rows=64, N=512, K=192):
    @T.prim_func
    def main(
        A: T.Tensor((3 * 64, K), "float16"),
        B: T.Tensor((3, K, N), "float16"),
        C: T.Tensor((3 * 64, N), "float32"),
    ):
        with T.Kernel(3, N // 128, threads=256) as (bx, by):
            A_s = T.alloc_shared((64, 64), "float16")
            B_s = T.alloc_shared((64, 128), "float16")
            C_l = T.alloc_fragment((64, 128), "float32")
            group = T.alloc_var("int32")
            group = (bx * 2) % 3
            T.clear(C_l)
            for k in T.Pipelined(K // 64, num_stages=2):
                T.copy(A[bx * 64, k * 64], A_s)
                T.copy(B[group, k * 64, by * 128], B_s)
                T.gemm(A_s, B_s, C_l)
            for i, j in T.Parallel(64, 128):
                if i < rows:
                    C[bx * 64 + i, by * 128 + j] = C_l[i, j]

    return main
