# target: cuda -arch=sm_80
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((128,), "int32"), B: T.Tensor((128,), "int32")):
    with T.Kernel(1, threads=128):
        t = T.get_thread_binding()
        total = T.alloc_local((1,), "int32")
        if t < 64:
            with T.attr(T.comm_reducer(lambda x, y: x + y, [T.int32(0)]), "reduce_scope", T.reinterpret(T.uint64(0), dtype="handle")):
                T.evaluate(T.tvm_thread_allreduce(T.uint32(1), A[t], True, total[0], t, dtype="handle"))  # error: tile-threads
            B[t] = total[0]
