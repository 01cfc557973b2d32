# Several launches in one function, a workspace between them, host values and loops.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((256,), "float32"), Out: T.Tensor((1,), "float32")):
    parts = 256 // 64
    W = T.alloc_global((parts,), "float32")
    with T.Kernel(parts, threads=64) as bx:
        acc = T.alloc_fragment((64,), "float32")
        total = T.alloc_fragment((1,), "float32")
        T.copy(A[bx * 64], acc)
        T.reduce_sum(acc, total, dim=0)
        W[bx] = total[0]
    for step in range(2):
        with T.Kernel(1, threads=32):
            s = T.alloc_var("float32", 0.0)
            for i in T.serial(parts):
                s += W[i]
            Out[0] = s + step

# >>> ir
# func main:
#     param A: float32[256] global is_param
#     param Out: float32[1] global is_param
#     workspace W: float32[4] global is_workspace
#     launch main_kernel:
#         grid bx: int32 = 4
#         threads tx: int32 = 64, ty: int32 = 1, tz: int32 = 1
#         buffer acc: float32[64] fragment
#         buffer total: float32[1] fragment
#         body:
#             copy #0(A[bx * 64:+64], acc[0:+64])
#             reduce #1(acc[0:+64], total[0:+1]) args(0, true, 1, false) text "sum"
#             W[bx] = total[0]
#     for step in serial(0, 2):
#         launch main_kernel_1:
#             grid bx.1: int32 = 1
#             threads tx.1: int32 = 32, ty.1: int32 = 1, tz.1: int32 = 1
#             buffer s: float32[] var
#             body:
#                 s[] = 0.0
#                 for i in serial(0, 4):
#                     s[] = s[] + W[i]
#                 Out[0] = s[] + cast(float32, step)
# <<<
