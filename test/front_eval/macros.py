# Macros: arguments are evaluated once, names do not leak, T.Ref stores through, values return.
import tilelang
import tilelang.language as T


@T.macro
def add_to(x: T.Ref[T.int32], amount):
    tmp = amount * 2
    x = x + tmp
    x += 1


@T.macro
def largest(S, n, out):
    for i in T.serial(n):
        out[0] = T.max(out[0], S[i])
    return n + 1, S


def plain(a, b=2):
    total = 0
    for i in range(3):
        total = total + a * i
    return total + b


@tilelang.jit
def factory(size=32, scale=2):
    @T.macro
    def scaled(S):
        for i in T.Parallel(size):
            S[i] = S[i] * scale

    scale = 3

    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), N: T.Tensor((4,), "int32")):
        with T.Kernel(2, threads=32) as bx:
            S = T.alloc_shared((size,), "float32")
            tmp = bx + 1
            v = T.alloc_var("int32")
            add_to(v, bx * 3 + A[0].astype("int32"))
            add_to(N[1], 4)
            N[0] = v + tmp
            m, same = largest(S, size, A)
            scaled(same)
            A[m] = plain(bx) + plain(A[1], b=bx)
            A[5] = (lambda q: q * q)(bx + 1)
            xs = [bx + i for i in range(3)]
            A[6] = sum(xs)

    return main

# >>> ir
# func main:
#     param A: float32[64] global is_param
#     param N: int32[4] global is_param
#     launch main_kernel:
#         grid bx: int32 = 2
#         threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1
#         buffer S: float32[32] shared
#         buffer v: int32[] var
#         body:
#             tmp: int32 = bx + 1
#             v[] = 0
#             amount: int32 = bx * 3 + cast(int32, A[0])
#             tmp.1: int32 = amount * 2
#             v[] = v[] + tmp.1
#             v[] = v[] + 1
#             N[1] = N[1] + 8
#             N[1] = N[1] + 1
#             N[0] = v[] + tmp
#             for i in serial(0, 32):
#                 A[0] = max(A[0], S[i])
#             for i.1 in parallel(0, 32):
#                 S[i.1] = S[i.1] * 2.0
#             A[33] = cast(float32, bx + bx * 2 + 2) + (0.0 + A[1] * 0.0 + A[1] * 1.0 + A[1] * 2.0 + cast(float32, bx))
#             A[5] = cast(float32, (bx + 1) * (bx + 1))
#             A[6] = cast(float32, bx + (bx + 1) + (bx + 2))
# <<<
