"""T.comm_reducer with T.tvm_thread_allreduce: sums over one thread dimension."""
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4, 32), "float32"), S: T.Tensor((4,), "float32")):
    with T.Kernel(1, threads=(32, 4)) as bx:
        tk = T.get_thread_binding(0)
        tn = T.get_thread_binding(1)
        part = T.alloc_local((1,), "float32")
        total = T.alloc_local((1,), "float32")
        part[0] = A[tn, tk] * 2
        with T.attr(
            T.comm_reducer(lambda x, y: x + y, [T.cast(0, "float32")]),
            "reduce_scope",
            T.reinterpret(T.uint64(0), dtype="handle"),
        ):
            T.evaluate(
                T.tvm_thread_allreduce(T.uint32(1), part[0], True, total[0], tk, dtype="handle"))
        if tk == 0:
            S[tn] = total[0]


@T.prim_func
def reference(A: T.Tensor((4, 32), "float32"), S: T.Tensor((4,), "float32")):
    with T.Kernel(1, threads=128) as bx:
        for i in T.serial(4):
            S[i] = 0
            for j in T.serial(32):
                S[i] += A[i, j] * 2
