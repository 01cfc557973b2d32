import tilelang
import tilelang.language as T


@T.prim_func
def main(C: T.Tensor((4,), "int32")):
    with T.Kernel(4, threads=128) as bx:
        C[bx] += 1
        for _ in T.Parallel(1):
            T.atomic_add(C[bx], 1)
        T.atomic_add(C[bx], 1)  # warning: per-thread-effect
