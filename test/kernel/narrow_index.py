# Elements of narrow integers as indices, into one dimension and two, of registers, shared and global memory.
# verify: :main
# verify: :rows
# verify: :bounds
import tilelang.language as T


@T.prim_func
def main(
    A: T.Tensor((64,), "float32"),
    I: T.Tensor((64,), "uint8"),
    J: T.Tensor((64,), "int16"),
    C: T.Tensor((64,), "float32"),
):
    with T.Kernel(1, threads=64):
        n = T.alloc_local((1,), "uint8")
        r = T.alloc_local((4,), "float32")
        s = T.alloc_shared((8, 4), "float32")
        tx = T.get_thread_binding(0)
        for i in range(4):
            r[i] = A[(tx + i) % 64]
        n[0] = I[tx] % 4
        r[n[0]] = A[J[tx] % 64] + 1
        if tx < 32:
            s[tx // 4, tx % 4] = A[tx] * 2
        T.sync_threads()
        C[tx] = r[n[0]] + r[3] + s[J[tx] % 8, n[0]] + s[J[tx] % 8, I[tx] % 4]


# Rows that a narrow integer names: their places are beyond what its type counts.
@T.prim_func
def rows(
    A: T.Tensor((64, 80), "float32"),
    I: T.Tensor((16,), "uint8"),
    J: T.Tensor((16,), "int8"),
    K: T.Tensor((16,), "int16"),
    W: T.Tensor((24, 4000), "float32"),
    C: T.Tensor((16, 80), "float32"),
    D: T.Tensor((16, 80), "float32"),
    E: T.Tensor((64, 80), "float32"),
    F: T.Tensor((16, 8), "float32"),
    G: T.Tensor((64, 80), "float32"),
):
    with T.Kernel(16, threads=64) as bx:
        t = T.alloc_shared((1, 80), "float32")
        s = T.alloc_shared((40, 80), "float32")
        row = I[bx]
        T.copy(A[row, 0], t)
        T.copy(t, C[bx, 0])
        T.copy(A[0:40, 0:80], s)
        for j in T.Parallel(80):
            D[bx, j] = A[T.max(J[bx], 0), j] + s[I[bx] % 40, j]
        for j in T.Parallel(80):
            T.atomic_add(E[row, j], A[J[bx] + 4, j])
        for j in T.Parallel(8):
            F[bx, j] = W[T.abs(K[bx]) + 10, 3990 + j]
        for i, j in T.Parallel(16, 80):
            if i == bx:
                G[i + I[0], j] = A[J[i] + 10, j]


# Loops between narrow integers, of which the second may be the smaller one, are as long as those between int32.
@T.prim_func
def bounds(I: T.Tensor((16,), "uint8"), J: T.Tensor((16,), "int8"), O: T.Tensor((16, 3), "int32")):
    with T.Kernel(16, threads=32) as bx:
        a = T.alloc_var("int32", init=0)
        b = T.alloc_var("int32", init=0)
        c = T.alloc_var("int32", init=0)
        for k in T.serial(I[bx], I[15 - bx]):
            a += k * 3 + 1
        for k in T.serial(J[bx]):
            b += k + 1
        for k in T.serial(J[bx], J[15 - bx], 2):
            c += k + 5
        O[bx, 0] = a
        O[bx, 1] = b
        O[bx, 2] = c
        for k in T.serial(300):
            if k >= I[bx] and k < I[15 - bx]:
                a -= k * 3 + 1
            if k < J[bx]:
                b -= k + 1
            if J[bx] + k * 2 < J[15 - bx]:
                c -= J[bx] + k * 2 + 5
        T.device_assert(a == 0 and b == 0 and c == 0, "other loops")
