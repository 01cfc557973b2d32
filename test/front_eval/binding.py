# Names: lets, Python values, aliases, alloc_var reads and stores, swaps.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), N: T.Tensor((64,), "int32")):
    with T.Kernel(4, threads=32) as bx:
        n = 3
        n = n + 1
        base = bx * 16
        same = base
        first = A[base]
        A[base] = first + n
        x = T.alloc_var("int32", 5)
        y = x
        x = y + 1
        x += 2
        z = T.alloc_var("int32")
        x, z = z, x
        half: T.float16 = 0.5
        N[same + n] = x * 2 + half
        a = b = N[0]
        A[a] = b
        N[0], N[1] = N[1], N[0]
        A[-1] = 1
        flag = N[3]
        A[2] = True
        A[3] = not flag
        c = T.int32(7)
        A[c] = T.float32(c) * 1.5

# >>> ir
# func main:
#     param A: float32[64] global is_param
#     param N: int32[64] global is_param
#     launch main_kernel:
#         grid bx: int32 = 4
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         buffer x: int32[] var
#         buffer z: int32[] var
#         body:
#             base: int32 = bx * 16
#             first: float32 = A[base]
#             A[base] = first + 4.0
#             x[] = 5
#             y: int32 = x[]
#             x[] = y + 1
#             x[] = x[] + 2
#             z[] = 0
#             old: int32 = z[]
#             old.1: int32 = x[]
#             x[] = old
#             z[] = old.1
#             N[base + 4] = cast(int32, cast(float32, x[] * 2) + 0.5)
#             a: int32 = N[0]
#             A[a] = cast(float32, a)
#             old.2: int32 = N[1]
#             old.3: int32 = N[0]
#             N[0] = old.2
#             N[1] = old.3
#             A[63] = 1.0
#             flag: int32 = N[3]
#             A[2] = 1.0
#             A[3] = cast(float32, not flag != 0)
#             A[7] = 10.5
# <<<
