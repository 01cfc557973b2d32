# A tensor that is only written and larger than any cache is stored past them; one that is read is not.
# expect: copy y, Y: plain, the operator's own loops; the tensor is large and stored past the caches
# expect: copy z, Z: plain, the operator's own loops
import tilelang
import tilelang.language as T


@T.prim_func
def main(
    X: T.Tensor((1048576, 4096), "float32"),
    Y: T.Tensor((1048576, 4096), "float32"),
    Z: T.Tensor((1048576, 4096), "float32"),
):
    with T.Kernel(262144, threads=32) as bx:
        x = T.alloc_fragment((4, 4096), "float32")
        y = T.alloc_fragment((4, 4096), "float32")
        z = T.alloc_fragment((4, 4096), "float32")
        T.copy(X[bx * 4, 0], x)
        T.copy(Z[bx * 4, 0], z)
        for i, j in T.Parallel(4, 4096):
            y[i, j] = x[i, j] + z[i, j]
            z[i, j] = x[i, j] - z[i, j]
        T.copy(y, Y[bx * 4, 0])
        T.copy(z, Z[bx * 4, 0])
