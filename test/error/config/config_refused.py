import tilelang
import tilelang.language as T


@tilelang.jit(pass_configs={"tl.disable_prelower_semantic_check": True})
def kernel():  # error: config-refused
    @T.prim_func
    def main(A: T.Tensor((64,), T.float32)):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(64):
                A[i] = 1

    return main
