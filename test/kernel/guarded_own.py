# A fragment read forwards and backwards lies whole in each thread: those that store nothing read nothing of it.
# verify:
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((120, 24), "bfloat16"), B: T.Tensor((3, 24), "bfloat16")):
    with T.Kernel(3, threads=128) as bx:
        rows = T.alloc_shared((40, 24), "float16")
        sums = T.alloc_fragment((24,), "float16")
        out = T.alloc_shared((24,), "bfloat16")
        T.copy(A[bx * 40, 0], rows)
        T.reduce_sum(rows, sums, dim=0)
        for i in T.Parallel(24):
            out[i] = T.cast(T.max(T.cast(sums[i], "float32") * 0.5, T.cast(sums[23 - i], "float32")), "bfloat16")
        T.copy(out, B[bx, 0])
