# Literals take the type beside them; stores cast; casts and conversions.
import torch
import tilelang.language as T


@T.prim_func
def main(H: T.Tensor((8,), torch.float16), I: T.Tensor((8,), "int8"), U: T.Tensor((8,), T.uint8), D: T.Tensor((8,), "int64"), P: T.Tensor((8,), T.bool)):
    with T.Kernel(1, threads=32) as bx:
        H[0] = H[1] * 2 + 0.5
        H[1] = H[1] + bx
        I[0] = I[1] + 1
        I[1] = I[2] + 300
        U[0] = U[1] - 1
        U[1] = U[2] + -1
        D[0] = D[1] + bx
        D[1] = bx * 0.5
        P[0] = (bx > 1) & (I[0] == 3) | P[1]
        P[1] = bx
        H[2] = T.cast(I[0], "float16") / 3
        I[3] = int(H[0])
        H[3] = min(H[0], 1) + max(bx, 2)
        H[4] = abs(H[0]) + float(bx)
        D[2] = D[3] << 4 | 1
        H[5] = H[0] ** 3 + H[1] ** 0.5
        H[6] = H[0] // 2.0
        # a number that the narrow type does not have stays what it is
        I[4] = T.if_then_else(bx > 1, I[0], 300) // 2
        I[5] = T.clamp(I[0], -300, 300)
        U[2] = T.max(U[0], -1) + T.min(U[0], 7)
        U[3] = U[0] if bx > 1 else -1
        H[7] = T.max(H[0], 0.1) * T.max(H[0], 0.5)
        P[2] = (H[0] < 0.1) & (H[0] < 0.5)
        P[3] = T.if_then_else(bx > 1, P[0], 2) == 2
        D[4] = T.min(bx, 1 << 40)

# >>> ir
# func main:
#     param H: float16[8] global is_param
#     param I: int8[8] global is_param
#     param U: uint8[8] global is_param
#     param D: int64[8] global is_param
#     param P: bool[8] global is_param
#     launch main_kernel:
#         grid bx: int32 = 1
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         body:
#             H[0] = cast(float16, cast(float32, H[1] * float16(2.0)) + 0.5)
#             H[1] = H[1] + cast(float16, bx)
#             I[0] = cast(int8, cast(int32, I[1]) + 1)
#             I[1] = cast(int8, cast(int32, I[2]) + 300)
#             U[0] = cast(uint8, cast(int32, U[1]) - 1)
#             U[1] = cast(uint8, cast(int32, U[2]) + -1)
#             D[0] = D[1] + cast(int64, bx)
#             D[1] = cast(int64, cast(float32, bx) * 0.5)
#             P[0] = bx > 1 and I[0] == int8(3) or P[1]
#             P[1] = bx != 0
#             H[2] = cast(float16, I[0]) / float16(3.0)
#             I[3] = cast(int8, cast(int32, H[0]))
#             H[3] = min(H[0], float16(1.0)) + cast(float16, max(bx, 2))
#             H[4] = cast(float16, cast(float32, abs(H[0])) + cast(float32, bx))
#             D[2] = D[3] << int64(4) | int64(1)
#             H[5] = H[0] * (H[0] * H[0]) + pow(H[1], float16(0.5))
#             H[6] = cast(float16, floor(cast(float32, H[0]) / 2.0))
#             I[4] = cast(int8, (cast(int32, I[0]) if bx > 1 else 300) // 2)
#             I[5] = cast(int8, min(max(cast(int32, I[0]), -300), 300))
#             U[2] = cast(uint8, max(cast(int32, U[0]), -1) + cast(int32, min(U[0], uint8(7))))
#             U[3] = cast(uint8, cast(int32, U[0]) if bx > 1 else -1)
#             H[7] = cast(float16, max(cast(float32, H[0]), 0.1) * cast(float32, max(H[0], float16(0.5))))
#             P[2] = cast(float32, H[0]) < 0.1 and H[0] < float16(0.5)
#             P[3] = (cast(int32, P[0]) if bx > 1 else 2) == 2
#             D[4] = min(cast(int64, bx), int64(1099511627776))
# <<<
