import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=32) as bx:
        y = A[0] if bx > 1 else T.atomic_add(A[0], 1.0, return_prev=True)  # error: statement-in-condition
