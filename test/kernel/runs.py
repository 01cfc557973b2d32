# Bulk copies of consecutive bytes, without a tensor map: vectors, and rows that fill what they are in.
# verify: :vector
# verify: :vector n=1000
# verify: :rows
# verify: :rows M=70
# verify: :rows dtype=float16 w=20
# verify: :rounds
# verify: :ring
# verify: :by_hand
# verify: :deep
# verify: :deep far=1
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def vector(n=2048, b=512):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, b), threads=128) as bx:
            s = T.alloc_shared((b,), "float32")
            T.copy(A[bx * b], s)
            for i in T.Parallel(b):
                s[i] = s[i] * 2
            T.copy(s, B[bx * b])

    return main


@tilelang.jit(out_idx=[-1])
def rows(M=64, w=33, b=16, dtype="float32"):
    """No stride of the tensor is a multiple of 16 bytes; its rows are filled whole."""

    @T.prim_func
    def main(A: T.Tensor((M, w), dtype), B: T.Tensor((M, w), dtype)):
        with T.Kernel(T.ceildiv(M, b), threads=128) as bx:
            s = T.alloc_shared((b, w), dtype)
            T.copy(A[bx * b, 0], s)
            for i, j in T.Parallel(b, w):
                s[i, j] = s[i, j] + 1
            T.copy(s, B[bx * b, 0])

    return main


@tilelang.jit(out_idx=[-1])
def rounds(n=4, b=512):
    @T.prim_func
    def main(A: T.Tensor((n * b,), "float32"), B: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((b,), "float32")
            f = T.alloc_fragment((b,), "float32")
            T.clear(f)
            for k in T.serial(n):
                T.copy(A[k * b], s)
                for i in T.Parallel(b):
                    f[i] = f[i] * 2 + s[b - 1 - i]
            T.copy(f, B)

    return main


@tilelang.jit(out_idx=[-1])
def ring(n=6, w=33, b=16):
    """Slots of a producer's ring."""

    @T.prim_func
    def main(A: T.Tensor((n * b, w), "float32"), B: T.Tensor((b, w), "float32")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((b, w), "float32")
            f = T.alloc_fragment((b, w), "float32")
            T.clear(f)
            for k in T.Pipelined(n, num_stages=3):
                T.copy(A[k * b, 0], s)
                for i, j in T.Parallel(b, w):
                    f[i, j] = f[i, j] + s[b - 1 - i, j]
            T.copy(f, B)

    return main


@tilelang.jit(out_idx=[-1])
def by_hand(n=512):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((n,), "float32")
            here = T.alloc_barrier(64)
            T.tma_copy(A, s, barrier=here)
            T.barrier_arrive(here)
            T.barrier_wait(here, 0)
            for i in T.Parallel(n):
                s[i] = s[i] * 3
            T.copy(s, B)

    return main


@tilelang.jit(out_idx=[-1])
def deep(far=0):
    """More dimensions than a tensor map has."""

    @T.prim_func
    def main(A: T.Tensor((2, 2, 2, 2, 2, 8, 32), "float32"), B: T.Tensor((8, 32), "float32")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((8, 32), "float32")
            T.copy(A[1, 0, far, 1, 0, 0, 0], s)
            T.copy(s, B)

    return main
