"""Reductions, scans, reducers, votes."""
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((16, 32), "float32"), S: T.Tensor((16,), "float32"), M: T.Tensor((32,), "float32"),
         C: T.Tensor((16, 32), "float32"), R: T.Tensor((16,), "float32"), V: T.Tensor((2,), "int32")):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_fragment((16, 32), "float32")
        s = T.alloc_fragment((16,), "float32")
        m = T.alloc_fragment((1, 32), "float32")
        c = T.alloc_shared((16, 32), "float32")
        r = T.alloc_reducer((16,), "float32", op="max")
        out = T.alloc_fragment((16,), "float32")
        T.copy(A, a)
        T.fill(s, 1)
        T.reduce_sum(a, s, dim=1, clear=False)
        T.copy(s, S)
        T.reduce_absmax(a, m, dim=0)
        T.copy(m[0, 0:32], M)
        T.copy(A, c)
        T.cumsum(c, dim=1, reverse=True)
        T.copy(c, C)
        T.reducer_init(r)
        for i, j in T.Parallel(16, 32):
            T.reducer_update(r[i], a[i, j] * 2)
        T.finalize_reducer(r, out)
        T.copy(out, R)
        some = T.any_of(c)
        every = T.all_of(c)
        V[0] = T.if_then_else(some, 1, 0)
        V[1] = T.if_then_else(every, 1, 0)


@T.prim_func
def reference(A: T.Tensor((16, 32), "float32"), S: T.Tensor((16,), "float32"),
              M: T.Tensor((32,), "float32"), C: T.Tensor((16, 32), "float32"),
              R: T.Tensor((16,), "float32"), V: T.Tensor((2,), "int32")):
    with T.Kernel(1, threads=128) as bx:
        for i in T.serial(16):
            S[i] = 1
            R[i] = -T.infinity("float32")
            for j in T.serial(32):
                S[i] += A[i, j]
                R[i] = T.max(R[i], A[i, j] * 2)
            C[i, 31] = A[i, 31]
            for j in T.serial(30, -1, -1):
                C[i, j] = C[i, j + 1] + A[i, j]
        for j in T.serial(32):
            M[j] = 0
            for i in T.serial(16):
                M[j] = T.max(M[j], T.abs(A[i, j]))
        V[0] = 0
        V[1] = 1
        for i, j in T.grid(16, 32):
            if C[i, j] != 0:
                V[0] = 1
            else:
                V[1] = 0
