# Values between the threads of parts of a warp, votes and reductions by warps of whatever size there is.
# verify: :parts
# verify: :parts width=2 dtype=int32
# verify: :rows
# verify: :rows M=16 N=40 dtype=float16
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def parts(N=64, width=4, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((4, N), dtype)):
        with T.Kernel(1, threads=N):
            tx = T.get_thread_binding()
            v = X[tx]
            Y[0, tx] = T.shfl_xor(v, 1, width)
            Y[1, tx] = T.shfl_down(v, 1, width)
            Y[2, tx] = T.shfl_up(v, 1, width)
            Y[3, tx] = T.shfl_sync(v, tx + 1, width)

    return main


@tilelang.jit(out_idx=[-2, -1])
def rows(M=8, N=64, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M,), "float32"), Z: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=64):
            x = T.alloc_fragment((M, N), "float32")
            s = T.alloc_fragment((M,), "float32")
            T.copy(X, x)
            T.reduce_sum(x, s, dim=1)
            T.copy(s, Y)
            if T.get_thread_binding() == 0:
                Z[0] = M

    return main
