# out_idx counts to an input.
# stage: compile
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[0])
def scale(N=64):
    @T.prim_func
    def main(
        X: T.Tensor((N,), "float32"),  # warning: output-unwritten
        Y: T.Tensor((N,), "float32"),
    ):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(N):
                Y[i] = X[i] * 2

    return main
