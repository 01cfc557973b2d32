"""The same storage in other shapes and types; layouts that move elements but not values."""
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8, 12), "float32"), B: T.Tensor((96,), "float32"), C: T.Tensor((8, 12), "int32"),
         D: T.Tensor((64, 64), "float16"), E: T.Tensor((64, 64), "float16")):
    flat = T.reshape(B, (8, 12))
    with T.Kernel(1, threads=64) as bx:
        a = T.alloc_shared((8, 12), "float32")
        T.copy(A, a)
        T.copy(T.view(a, dtype="int32"), C)
        row = T.Tensor((96,), "float32", A.data)
        for i, j in T.Parallel(8, 12):
            flat[i, j] = row[i * 12 + j] + 1
        s = T.alloc_shared((64, 64), "float16")
        t = T.alloc_shared((64, 64), "float16")
        T.annotate_layout({
            s: tilelang.layout.make_swizzled_layout(s),
            t: lambda i, j: (j, i),
        })
        T.copy(D, s)
        for i, j in T.Parallel(64, 64):
            t[i, j] = s[j, i] * 2
        T.copy(t, E)


@T.prim_func
def reference(A: T.Tensor((8, 12), "float32"), B: T.Tensor((96,), "float32"),
              C: T.Tensor((8, 12), "int32"), D: T.Tensor((64, 64), "float16"),
              E: T.Tensor((64, 64), "float16")):
    with T.Kernel(1, threads=64) as bx:
        for i, j in T.grid(8, 12):
            B[i * 12 + j] = A[i, j] + 1
            C[i, j] = T.reinterpret(A[i, j], "int32")
        for i, j in T.grid(64, 64):
            E[i, j] = D[j, i] * 2
