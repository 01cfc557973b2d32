# What lies outside reads as the annotated value, converted to the destination.
# verify: M=10 N=21
# verify: M=33 N=65 dtype=float16
# verify: M=31 N=63 dtype=int8
import tilelang
import tilelang.language as T


@tilelang.jit
def safe(M=10, N=21, b=32, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), C: T.Tensor((64, 128), "float32")):
        with T.Kernel(4, 2, threads=64) as (bx, by):
            T.annotate_safe_value({A: 3})
            s = T.alloc_shared((b, b), "float32")
            T.copy(A[by * b, bx * b], s)
            T.copy(s, C[by * b, bx * b])

    return main
