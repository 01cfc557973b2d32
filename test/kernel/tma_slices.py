# T.tma_copy into parts of a tile: panels of columns and groups of eight rows land as boxes of their own.
# verify: :gemm --sm_80=unsupported-here --hip=unsupported-here
# verify: :gemm rows=32 --sm_80=unsupported-here --hip=unsupported-here
# verify: :gemm K=256 cols=128 --sm_80=unsupported-here --hip=unsupported-here
import tilelang
import tilelang.language as T


# The next tile comes, part by part, once the product has read the one before.
@tilelang.jit(out_idx=[-1])
def gemm(K=256, rounds=3, rows=64, cols=64):
    @T.prim_func
    def main(A: T.Tensor((64, rounds * K), "float16"), B: T.Tensor((64, rounds * K), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((64, K), "float16")
            b = T.alloc_shared((64, K), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            ready = T.alloc_barrier(arrive_count=[128] * (K // cols))
            T.clear(c)
            for r in T.serial(rounds):
                for j in T.unroll(K // cols):
                    for i in T.unroll(64 // rows):
                        T.tma_copy(A[i * rows, r * K + j * cols], a[i * rows : (i + 1) * rows, j * cols : (j + 1) * cols], barrier=ready[j])
                    T.tma_copy(B[0, r * K + j * cols], b[:, j * cols : (j + 1) * cols], barrier=ready[j])
                    T.barrier_arrive(ready[j])
                for j in T.unroll(K // cols):
                    T.barrier_wait(ready[j], r % 2)
                    T.wgmma_gemm(a[:, j * cols : (j + 1) * cols], b[:, j * cols : (j + 1) * cols], c, transpose_B=True)
                if r < rounds - 1:
                    T.wait_wgmma(0)
            T.wait_wgmma(0)
            T.copy(c, C)

    return main
