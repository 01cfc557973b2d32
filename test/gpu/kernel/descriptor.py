# Boxes of a tensor asked for by hand, T.create_tma_descriptor and T.tma_load; of kernels.sh.
# verify: :rows --sm_80=unsupported-here
# verify: :rows M=40 N=48 box=24 dtype=bfloat16 code=9 bytes=2 --sm_80=unsupported-here
# verify: :heads --sm_80=unsupported-here
# verify: :swizzled --sm_80=unsupported-here
import tilelang
import tilelang.language as T


# Boxes past the end are filled with zeros.
@tilelang.jit(out_idx=[-1])
def rows(M=64, N=64, box=32, dtype="float32", code=7, bytes=4):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, box), threads=64) as bx:
            a = T.alloc_shared((box, N), dtype)
            came = T.alloc_barrier(1)
            tx = T.get_thread_binding()
            if tx == 0:
                desc = T.create_tma_descriptor(code, 2, A.data, N, M, bytes, N * bytes, N, box, 1, 1, 0, 0, 3, 0)
                T.mbarrier_expect_tx(came[0], box * N * bytes)
                T.tma_load(desc, came[0], T.address_of(a[0, 0]), 0, bx * box)
                T.mbarrier_arrive(came[0])
            T.mbarrier_wait_parity(came[0], 0)
            for i, j in T.Parallel(box, N):
                B[bx * box + i, j] = a[i, j] + 1

    return main


# One head of a tensor of four dimensions, as many rows of it as a tile holds.
@tilelang.jit(out_idx=[-1])
def heads(batch=2, S=64, H=3, D=32):
    @T.prim_func
    def main(A: T.Tensor((batch, S, H, D), "float16"), B: T.Tensor((batch, H, S, D), "float16")):
        with T.Kernel(S // 32, H, batch, threads=128) as (bx, by, bz):
            a = T.alloc_shared((32, D), "float16")
            came = T.alloc_barrier(arrive_count=128)
            tx = T.get_thread_binding()
            if tx == 0:
                T.mbarrier_expect_tx(came, 32 * D * 2)
                desc = T.create_tma_descriptor(
                    6, 4, A.data, D, H, S, batch, 2, D * 2, H * D * 2, S * H * D * 2, D, 1, 32, 1, 1, 1, 1, 1, 0, 0, 3, 0)
                T.tma_load(desc, came[0], T.access_ptr(a, "w"), 0, by, bx * 32, bz, 1)
            T.barrier_arrive(came)
            T.barrier_wait(came, 0)
            for i, j in T.Parallel(32, D):
                B[bz, by, bx * 32 + i, j] = a[i, j]

    return main


# The tile lies as the descriptor says, and a product reads it so.
@tilelang.jit(out_idx=[-1])
def swizzled(M=64, N=64, K=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, K), "float16")
            b = T.alloc_shared((N, K), "float16")
            c = T.alloc_fragment((M, N), "float32")
            came = T.alloc_barrier(1)
            T.annotate_layout({a: tilelang.layout.make_swizzled_layout(a)})
            tx = T.get_thread_binding()
            if tx == 0:
                desc = T.create_tma_descriptor(6, 2, A.data, K, M, 2, K * 2, K, M, 1, 1, 0, 3, 3, 0)
                T.mbarrier_arrive_expect_tx(came[0], M * K * 2)
                T.tma_load(desc, came[0], T.access_ptr(a, "w"), 0, 0)
            T.copy(B, b)
            T.mbarrier_wait_parity(came[0], 0)
            T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            T.copy(c, C)

    return main
