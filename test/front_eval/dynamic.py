# T.dynamic dimensions, shared by name; shapes that are expressions; strides.
import tilelang
import tilelang.language as T


@tilelang.jit
def factory(block=32):
    m = T.dynamic("m")
    n, k = T.dynamic("n, k")

    @T.prim_func
    def main(
        A: T.Tensor((m, k), "float16"),
        B: T.Tensor((m * 2, T.dynamic("n")), "float16"),
        C: "T.Tensor((n,), 'float16')",
        s: "float32",
        D: T.StridedTensor((m, n), (T.dynamic("ld"), 1), "float32"),
    ):
        with T.Kernel(T.ceildiv(m, block), threads=64) as bx:
            for i, j in T.Parallel(block, n):
                if bx * block + i < m:
                    B[bx * block + i, j] = A[bx * block + i, 0] * s
            D[0, 0] = A.shape[0] + B.shape[1]

    return main

# >>> ir
# func main:
#     dim m: int32
#     dim k: int32
#     dim n: int32
#     dim ld: int32
#     param A: float16[m, k] global is_param
#     param B: float16[m * 2, n] global is_param
#     param C: float16[n] global is_param
#     param s: float32
#     param D: float32[m, n] global stride(ld, 1) is_param
#     launch main_kernel:
#         grid bx: int32 = (m + 31) // 32
#         threads tx: int32 = 64, ty: int32 = 1, tz: int32 = 1
#         body:
#             for i in parallel(0, 32):
#                 for j in parallel(0, n):
#                     if bx * 32 + i < m:
#                         B[bx * 32 + i, j] = cast(float16, cast(float32, A[bx * 32 + i, 0]) * s)
#             D[0, 0] = cast(float32, m + n)
#     order n, k, s, ld
# <<<
