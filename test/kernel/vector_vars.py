# Variables of several lanes; a vector that was read keeps its value.
# verify: :sums
# verify: :sums dtype=float16
# verify: :kept
import tilelang
import tilelang.language as T


@tilelang.jit
def sums(n=32, dtype="float32"):
    pair = getattr(T, dtype + "x2")

    @T.prim_func
    def main(A: T.Tensor((n, 8), dtype), B: T.Tensor((n, 8), dtype)):
        with T.Kernel(1, threads=n) as bx:
            t = T.get_thread_binding()
            p = T.alloc_var(pair)
            q = T.alloc_var(pair, init=pair(A[t, 6], A[t, 7]))
            p = pair(A[t, 0], A[t, 1])
            for i in T.serial(3):
                p = T.add2(p, pair(A[t, 2 * i], A[t, 2 * i + 1]))
                if i > 0:
                    q += p
            B[t, 0] = T.extract_lane(p, 0)
            B[t, 1] = T.extract_lane(p, 1)
            B[t, 2:4] = q
            p, q = q, p
            B[t, 4:6] = p - q
            x = p
            p = q
            B[t, 6:8] = x + p

    return main


@tilelang.jit
def kept(n=32):
    @T.prim_func
    def main(A: T.Tensor((n, 4), "float32"), B: T.Tensor((n, 4), "float32")):
        with T.Kernel(1, threads=n) as bx:
            t = T.get_thread_binding()
            x = A[t, T.Ramp(0, 1, 4)]
            for i in T.serial(4):
                A[t, i] = 0
            B[t, 0:4] = x

    return main
