# Many bits at once from an odd place.
# refused: [misaligned]
# verify:
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=8) as bx:
        tx = T.get_thread_binding()
        T.stg64(B[tx * 2], T.ldg64(A[tx * 2 + 1]))
