import tilelang
import tilelang.language as T

@tilelang.jit
def axpy(X, Y, block: int = 64):
    N = T.const("N")
    X: T.Tensor[[N], T.float32]
    Y: T.Tensor[[N], T.float32]
    Z = T.empty((N,), T.float32)
    with T.Kernel(T.ceildiv(N, block), threads=64) as bx:
        for i in T.Parallel(block):
            Z[bx * block + i] = X[bx * block + i] * 2.0 + Y[bx * block + i]
    return Z
