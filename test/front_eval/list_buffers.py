# Buffers in lists and tuples, attributes of buffers, names given once.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 16), "float32")):
    with T.Kernel(4, threads=32) as bx:
        tiles = [T.alloc_shared((16, 16), "float32") for _ in range(2)]
        a, b = T.alloc_fragment((16, 16), "float32"), T.alloc_local((4,), "float16")
        alias = tiles[0]
        T.copy(A[bx * 16, 0], alias)
        T.copy(tiles[0], a)
        for k in T.serial(alias.shape[0]):
            b[k % 4] = a[k, 0]
        if tiles[0].scope() == "shared.dyn" and b.dtype == "float16":
            T.copy(a, tiles[1])

# >>> ir
# func main:
#     param A: float32[64, 16] global is_param
#     launch main_kernel:
#         grid bx: int32 = 4
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         buffer tiles_0: float32[16, 16] shared
#         buffer tiles_1: float32[16, 16] shared
#         buffer a: float32[16, 16] fragment
#         buffer b: float16[4] local
#         body:
#             copy #0(A[bx * 16:+16, 0:+16], tiles_0[0:+16, 0:+16])
#             copy #1(tiles_0[0:+16, 0:+16], a[0:+16, 0:+16])
#             for k in serial(0, 16):
#                 b[k % 4] = cast(float16, a[k, 0])
#             copy #2(a[0:+16, 0:+16], tiles_1[0:+16, 0:+16])
# <<<
