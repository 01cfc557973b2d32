# Branches and loops: what is known at compile time is gone, the rest is traced.
import tilelang.language as T

DEBUG = False


@T.prim_func
def main(A: T.Tensor((64,), "float32"), n: T.int32):
    with T.Kernel(4, threads=32) as bx:
        if DEBUG:
            A[0] = 1.0
        elif bx == 0 and n > 3:
            A[1] = 2.0
        elif 0 <= bx < 2:
            A[2] = 3.0
        else:
            A[3] = 4.0
        for i in range(8):
            if A[i] > 1.0:
                continue
            A[i] = A[i] * 2
        for i in range(2, 20, 3):
            A[i] = 0.0
        for i in T.serial(10, 0, -2):
            A[i] = 1.0
        for i in range(n):
            if i > 5:
                break
                A[0] = 9.0  # warning: unreachable
        x = T.alloc_var("int32")
        while x < n:
            x += 1
        while n < 0 and False:  # warning: while-false
            x += 1
        while 1 > 2:  # warning: while-false
            x += 1
        v = A[0] if bx > 1 else 0
        A[1] = v if not DEBUG else 7.0
        A[2] = -A[3] ** 2 + (n // 3) % 4
        A[3] = A[4] if n > 3 or bx == 2 and DEBUG else 1.0
        for i in T.unroll(4):
            for j, k in T.grid(2, n):
                A[i + j * k] = 0.5
        count = 0
        for i in T.serial(4):
            count += 1  # warning: compile-time-update
            A[count] = 0.0
        for i in T.vectorized(4):
            A[i] = 1.0
        assert n < 64, f"n is {n}"
        assert not DEBUG

# >>> ir
# func main:
#     param A: float32[64] global is_param
#     param n: int32
#     launch main_kernel:
#         grid bx: int32 = 4
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         buffer x: int32[] var
#         body:
#             if bx == 0 and n > 3:
#                 A[1] = 2.0
#             else:
#                 if 0 <= bx and bx < 2:
#                     A[2] = 3.0
#                 else:
#                     A[3] = 4.0
#             for i in serial(0, 8):
#                 if A[i] > 1.0:
#                     continue
#                 A[i] = A[i] * 2.0
#             for i_round in serial(0, 6):
#                 i.1: int32 = 2 + i_round * 3
#                 A[i.1] = 0.0
#             for i_round.1 in serial(0, 5):
#                 i.2: int32 = 10 + i_round.1 * -2
#                 A[i.2] = 1.0
#             for i.3 in serial(0, n):
#                 if i.3 > 5:
#                     break
#             x[] = 0
#             while x[] < n:
#                 x[] = x[] + 1
#             v: float32 = A[0] if bx > 1 else 0.0
#             A[1] = v
#             A[2] = -(A[3] * A[3]) + cast(float32, n // 3 % 4)
#             A[3] = A[4] if n > 3 else 1.0
#             for i.4 in unroll(0, 4):
#                 for j in serial(0, 2):
#                     for k in serial(0, n):
#                         A[i.4 + j * k] = 0.5
#             for i.5 in serial(0, 4):
#                 A[1] = 0.0
#             for i.6 in vectorized(0, 4):
#                 A[i.6] = 1.0
#             assert n < 64 text "n is n"
# <<<
