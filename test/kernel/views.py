# T.reshape and T.view give the same storage another shape or type.
# verify: :reshape M=24 N=40
# verify: :reshape M=7 N=6
# verify: :retype N=64
# verify: :bytes N=37
# verify: :fragment
# verify: :idle
# verify: :part
# verify: :part n=64 m=5
import tilelang
import tilelang.language as T


@tilelang.jit
def reshape(M=24, N=40):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((N, M), "float32"), C: T.Tensor((M * N,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((M, N), "float32")
            T.copy(A, s)
            r = T.reshape(s, (N, M))
            T.copy(r, B)
            flat = T.view(s, (M * N,))
            for i in T.Parallel(M * N):
                flat[i] = flat[i] * 2
            T.copy(s, T.reshape(C, (M, N)))

    return main


@tilelang.jit
def retype(N=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=32) as bx:
            s = T.alloc_shared((N,), "float32")
            T.copy(A, s)
            bits = T.view(s, dtype="int32")
            for i in T.Parallel(N):
                B[i] = bits[i] >> 23

    return main


@tilelang.jit
def bytes(N=37):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), B: T.Tensor((N, 4), "uint8")):
        with T.Kernel(1, threads=32) as bx:
            s = T.alloc_shared((N,), "int32")
            T.copy(A, s)
            b = T.view(s, (N, 4), "uint8")
            T.copy(b, B)

    return main


@tilelang.jit
def fragment(M=16, N=48):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N // 3, 3), "float32"), C: T.Tensor((M, N // 3), "float32")):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((M, N), "float32")
            c = T.alloc_fragment((M, N // 3), "float32")
            T.copy(A, f)
            g = T.reshape(f, (M, N // 3, 3))
            T.reduce_sum(g, c, dim=2)
            T.copy(g, B)
            T.copy(c, C)

    return main


@tilelang.jit
def idle(N=32):
    """Views of tiles that nothing else keeps alive."""

    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            never = T.alloc_shared((4, 8), "int32")
            as_row = T.reshape(never, (32,))
            s = T.alloc_shared((N,), "float32")
            f = T.alloc_fragment((N,), "float32")
            T.copy(A, s)
            square = T.reshape(s, (4, N // 4))
            T.copy(s, f)
            T.copy(A, B)

    return main


@tilelang.jit
def part(n=32, m=10):
    """Of a fragment's view only a part is written, which says nothing about how the fragment lies."""

    @T.prim_func
    def main(A: T.Tensor((16, 5, 4), "int64"), R: T.Tensor((5, 4), "int32"), Q: T.Tensor((16, 5, 4), "int64")):
        with T.Kernel(1, threads=64):
            t = T.alloc_fragment((16, 5, 4), "int64")
            s = T.alloc_fragment((5, 4), "int32")
            T.copy(A, t)
            T.reduce_max(t, s, dim=0)
            w = T.reshape(t, (n, m))
            T.copy(s, w[20:25, 1:5])
            T.copy(s, R)
            T.copy(t, Q)

    return main
