# T.reshape and T.view give the same storage another shape or type.
# verify: :reshape M=24 N=40
# verify: :reshape M=7 N=6
# verify: :retype N=64
# verify: :bytes N=37
# verify: :fragment
# verify: :idle
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
