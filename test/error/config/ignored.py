import tilelang
import tilelang.language as T


@tilelang.jit(target_host="llvm")  # warning: ignored
def kernel(n: int = 64):
    @T.prim_func
    def main(A: T.Tensor((64,), T.float32)):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(64):
                A[i] = 1

    return main
