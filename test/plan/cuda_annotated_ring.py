# A pipeline of tiles keeps bulk copies and warpgroup MMAs where its layout is annotated.
# run: --target="cuda -arch=sm_90a"
# expect: copy A, a (line 25): tma
# expect: copy B, b (line 26): tma
# expect: gemm a, b, c (line 32): wgmma
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=64, N=64, K=192, bk=64, stages=3, dtype="bfloat16"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=256):
            a = T.alloc_shared((stages, M, bk), dtype)
            b = T.alloc_shared((stages, N, bk), dtype)
            c = T.alloc_fragment((M, N), "float32")
            T.annotate_layout({a: tilelang.layout.make_swizzled_layout(a), b: tilelang.layout.make_swizzled_layout(b)})
            full = T.alloc_barrier([128] * stages)
            empty = T.alloc_barrier([128] * stages)
            tx = T.get_thread_binding()
            if tx < 128:
                for k in T.serial(K // bk):
                    T.barrier_wait(empty[k % stages], (k // stages & 1) ^ 1)
                    T.tma_copy(A[0:M, k * bk:k * bk + bk], a[k % stages, :, :], barrier=full[k % stages])
                    T.tma_copy(B[0:N, k * bk:k * bk + bk], b[k % stages, :, :], barrier=full[k % stages])
                    T.barrier_arrive(full[k % stages])
            else:
                T.clear(c)
                for k in T.serial(K // bk):
                    T.barrier_wait(full[k % stages], k // stages & 1)
                    T.gemm(a[k % stages, :, :], b[k % stages, :, :], c, transpose_B=True)
                    T.barrier_arrive(empty[k % stages])
                T.copy(c, C)

    return main
