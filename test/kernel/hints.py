# What the second level cache is told about bulk copies: they move the same bytes.
# verify: :tile
# verify: :tile policy=evict_last
# verify: :tile policy=evict_normal
# verify: :vector
# verify: :ring
# verify: :ring policy=evict_last
# verify: :by_hand
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def tile(M=64, N=96, policy="evict_first"):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 32), threads=128) as (bx, by):
            s = T.alloc_shared((32, 64), "float32")
            T.copy(A[by * 32, bx * 64], s, eviction_policy=policy)
            T.copy(s, B[by * 32, bx * 64], eviction_policy=policy)

    return main


@tilelang.jit(out_idx=[-1])
def vector(n=2048, policy="evict_first"):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(n // 512, threads=128) as bx:
            s = T.alloc_shared((512,), "float32")
            T.copy(A[bx * 512], s, eviction_policy=policy)
            T.copy(s, B[bx * 512], eviction_policy=policy)

    return main


@tilelang.jit(out_idx=[-1])
def ring(M=128, N=64, K=96, policy="evict_first"):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, M // 64, threads=128) as (bx, by):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((64, 32), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(K // 32, num_stages=2):
                T.copy(A[by * 64, k * 32], a, eviction_policy=policy)
                T.copy(B[0, k * 32], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * 64, 0])

    return main


@tilelang.jit(out_idx=[-1])
def by_hand(N=64):
    @T.prim_func
    def main(A: T.Tensor((32, N), "float32"), B: T.Tensor((32, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((32, N), "float32")
            here = T.alloc_barrier(1)
            T.tma_copy(A, s, barrier=here, eviction_policy="evict_last")
            if T.get_thread_binding() == 0:
                T.barrier_arrive(here)
            T.barrier_wait(here, 0)
            T.tma_copy(s, B, eviction_policy="evict_first")
            T.tma_store_wait()

    return main
