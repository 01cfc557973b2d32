# Blocks whose loop is the longer the higher their first index: the long ones begin, none is left alone at the end.
# run: --target="cuda -arch=sm_80"
# expect: kernel main_kernel: 128 threads, the longest blocks first
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def main(N=2048, heads=16):
    @T.prim_func
    def main(A: T.Tensor((heads, N, 64), "float16"), B: T.Tensor((heads, N, 64), "float16")):
        with T.Kernel(N // 64, heads, threads=128) as (bx, by):
            s = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(bx + 1, num_stages=2):
                T.copy(A[by, k * 64, 0], s)
                for i, j in T.Parallel(64, 64):
                    c[i, j] += s[i, j]
            T.copy(c, B[by, bx * 64, 0])

    return main
