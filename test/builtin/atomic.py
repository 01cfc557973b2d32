"""Atomic updates of elements and tiles, with and without the old value."""
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((16, 8), "float32"), S: T.Tensor((8,), "float32"), M: T.Tensor((4,), "int32"),
         W: T.Tensor((8,), "float32")):
    with T.Kernel(1, threads=1) as bx:
        a = T.alloc_shared((16, 8), "float32")
        T.copy(A, a)
        for j in T.serial(8):
            S[j] = 0
            W[j] = 0
        for i in T.serial(16):
            T.atomic_add(S, a[i, 0:8])
        for i in T.serial(4):
            M[i] = 0
        for i in T.serial(16):
            T.atomic_max(M[0], i * 3 % 7)
            T.atomic_min(M[1], -i)
            T.atomic_or(M[2], 1 << (i % 4))
        old = T.atomic_add(M[3], 5, return_prev=True)
        T.atomic_add(M[3], old + 2, memory_order="relaxed")
        T.atomic_addx4(W[0], A[0, 0])
        T.atomic_addx2(W[4], A[0, 4])
        x = T.atomic_load(W[0])
        T.atomic_store(W[7], x)


@T.prim_func
def reference(A: T.Tensor((16, 8), "float32"), S: T.Tensor((8,), "float32"), M: T.Tensor((4,), "int32"),
              W: T.Tensor((8,), "float32")):
    with T.Kernel(1, threads=64) as bx:
        for j in T.serial(8):
            S[j] = 0
            for i in T.serial(16):
                S[j] += A[i, j]
            W[j] = A[0, j] if j < 6 else T.float32(0)
        W[7] = A[0, 0]
        M[0] = 6
        M[1] = -15
        M[2] = 15
        M[3] = 7
