# Rows of shared memory distributed by hand: T.ptx_ldmatrix (test/py/test_older.py multiplies them).
# verify: :words --template=unsupported-here
# verify: :words trans=1 --template=unsupported-here
# verify: :words num=2 --template=unsupported-here
# verify: :words num=1 dtype=int8 --template=unsupported-here
import tilelang
import tilelang.language as T


@tilelang.jit
def words(num=4, trans=0, dtype="float16", n=32):
    each = 2 if dtype == "float16" else 4

    @T.prim_func
    def main(A: T.Tensor((32, 16), dtype), B: T.Tensor((n, num * each), dtype)):
        with T.Kernel(1, threads=n):
            t = T.get_thread_binding()
            s = T.alloc_shared((32, 16), dtype)
            x = T.alloc_local((num * each,), dtype)
            T.copy(A, s)
            T.ptx_ldmatrix(bool(trans), num, T.access_ptr(s[t, 0], "r"), T.access_ptr(x[0], "w"))
            for i in T.serial(num * each):
                B[t, i] = x[i]

    return main
