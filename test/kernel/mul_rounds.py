# A product that stands alone is rounded to the nearest: what it lacks, found by fma, is made visible.
# verify: :lacks
# verify: :lacks dtype=float64
import tilelang
import tilelang.language as T


@tilelang.jit
def lacks(n=128, dtype="float32"):
    scale = 2.0 ** (20 if dtype == "float32" else 50)

    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype), C: T.Tensor((n,), dtype), S: T.Tensor((n,), dtype)):
        with T.Kernel(1, threads=n) as bx:
            tx = T.get_thread_binding()
            p = T.ieee_mul(A[tx], B[tx], "rn")
            C[tx] = T.fma(A[tx], B[tx], -p) * scale
            # written so that a sum could be contracted with the product; it is not
            S[tx] = (T.ieee_add(p, -p, "rn") + T.fma(A[tx], B[tx], -p)) * scale

    return main
