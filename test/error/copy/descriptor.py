import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16")):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_shared((64, 64), "float16")
        came = T.alloc_barrier(1)
        desc = T.create_tma_descriptor(6, 2, A.data, 64, 64, 2, 128, 64, 64, 1, 1, 0, 3, 3, 0)
        if T.get_thread_binding() == 0:
            T.mbarrier_arrive_expect_tx(came[0], 8192)
            T.tma_load(desc, came[0], T.access_ptr(a, "w"), 0, 0)  # error: layout-kind
        T.mbarrier_wait_parity(came[0], 0)
        T.copy(a, B)
