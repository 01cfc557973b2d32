# A condition that has something to do does it at each round.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=32) as bx:
        n = T.alloc_var("int32")
        while T.atomic_load(A[0]) == 0 and n < 5:
            n += 1
        A[1] = n

# >>> ir
# func main:
#     param A: int32[64] global is_param
#     launch main_kernel:
#         grid bx: int32 = 1
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         buffer n: int32[] var
#         body:
#             n[] = 0
#             while true:
#                 old: int32 = atomic_load(A[0]) order "seq_cst"
#                 if not (old == 0 and n[] < 5):
#                     break
#                 n[] = n[] + 1
#             A[1] = n[]
# <<<
