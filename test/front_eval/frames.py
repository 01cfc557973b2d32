# Contexts: T.ws, T.If, T.attr-like ones, three grid dimensions, thread bindings, Persistent.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8, 16, 4), "float32")):
    with T.Kernel(8, 16, 4, threads=(64, 4)) as (x, y, z):
        tx = T.get_thread_binding()
        with T.ws(0):
            A[x, y, z] = 1.0
        with T.If(x > 2):
            with T.Then():
                A[x, y, z] = tx
            with T.Else():
                A[x, y, z] = 0.0
        for i, j in T.Persistent([8, 16], 4, x):
            A[i, j, 0] = 2.0

# >>> ir
# func main:
#     param A: float32[8, 16, 4] global is_param
#     launch main_kernel:
#         grid x: int32 = 8, y: int32 = 16, z: int32 = 4
#         threads tx: int32 = 64, ty: int32 = 4, tz: int32 = 1
#         uses_threads
#         body:
#             role "ws" groups(0):
#                 A[x, y, z] = 1.0
#             if x > 2:
#                 A[x, y, z] = cast(float32, tx)
#             else:
#                 A[x, y, z] = 0.0
#             for wave in serial(0, 32):
#                 i: int32 = (wave * 4 + x) // 8 % 8
#                 j: int32 = (wave * 4 + x) // 8 // 8 * 8 + (wave * 4 + x) % 8
#                 if wave * 4 + x < 128 and j < 16:
#                     A[i, j, 0] = 2.0
# <<<
