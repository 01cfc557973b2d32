# There are sixteen named barriers.
# refused: [barrier-id]
# verify:
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64) as bx:
        tx = T.get_thread_binding()
        T.sync_threads(77, 64)
        A[tx] = 1
