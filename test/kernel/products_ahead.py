# T.wgmma_gemm in a pipelined loop: a stage is given back when the wait that covers its reader is over,
# and a wait that leaves some in flight settles the results of those before.
# verify: :chain --sm_80=unsupported-here --hip=unsupported-here
# verify: :chain stages=3 steps=5 --sm_80=unsupported-here --hip=unsupported-here
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-2, -1])
def chain(steps=4, stages=2):
    @T.prim_func
    def main(
        A: T.Tensor((64, 64), "float16"),
        B: T.Tensor((steps * 64, 64), "float16"),
        D: T.Tensor((steps * 64, 64), "float16"),
        E: T.Tensor((64, 64), "float32"),
        F: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            d = T.alloc_shared((64, 64), "float16")
            x = T.alloc_fragment((64, 64), "float32")
            y = T.alloc_fragment((64, 64), "float32")
            left = T.alloc_fragment((64, 64), "float16")
            e = T.alloc_fragment((64, 64), "float32")
            f = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.clear(e)
            T.clear(f)
            for k in T.Pipelined(steps, num_stages=stages):
                T.copy(B[k * 64, 0], b)
                T.wgmma_gemm(a, b, x, transpose_B=True, clear_accum=True)
                T.copy(D[k * 64, 0], d)
                T.wgmma_gemm(a, d, y, transpose_B=True, clear_accum=True)
                T.wait_wgmma(1)
                for i, j in T.Parallel(64, 64):
                    left[i, j] = x[i, j] * 0.125
                T.wgmma_gemm(left, d, e)
                T.wait_wgmma(1)
                for i, j in T.Parallel(64, 64):
                    f[i, j] += y[i, j]
                T.wait_wgmma(0)
            T.copy(e, E)
            T.copy(f, F)

    return main
