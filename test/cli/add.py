import tilelang
import tilelang.language as T


@T.prim_func
def reference(A: T.Tensor((1000,), "float32"), B: T.Tensor((1000,), "float32"), C: T.Tensor((1000,), "float32")):
    with T.Kernel(1, threads=1):
        for i in T.serial(1000):
            C[i] = A[i] + B[i]


@T.prim_func
def wrong(A: T.Tensor((1000,), "float32"), B: T.Tensor((1000,), "float32"), C: T.Tensor((1000,), "float32")):
    with T.Kernel(1, threads=1):
        for i in T.serial(1000):
            C[i] = A[i] - B[i]


@tilelang.jit
def add(N=1000, block=256, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, block), threads=128) as bx:
            for i in T.Parallel(block):
                C[bx * block + i] = A[bx * block + i] + B[bx * block + i]

    return main
