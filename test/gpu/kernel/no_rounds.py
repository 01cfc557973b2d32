"""A pipeline that may have nothing to do: its first copies are in flight all the same, and another tile lies in their place."""
import tilelang
import tilelang.language as T


@tilelang.jit
def rounds(N=32, stages=4):
    @T.prim_func
    def main(A: T.Tensor((16, N), "float32"), R: T.Tensor((16, N), "float32"), n: T.int32):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((16, N), "float32")
            u = T.alloc_shared((16, N), "float32")
            c = T.alloc_fragment((16, N), "float32")
            T.clear(c)
            for p in T.Pipelined(n, num_stages=stages):
                T.copy(A[p * 16, 0], s)
                for i, j in T.Parallel(16, N):
                    c[i, j] += s[i, j]
            for i, j in T.Parallel(16, N):
                u[i, j] = c[i, j] + 1.0
            for i, j in T.Parallel(16, N):
                R[i, j] = u[15 - i, N - 1 - j]

    return main


# A launch of nothing at all.
@tilelang.jit
def nothing():
    @T.prim_func
    def main(A: T.Tensor((16,), "float32")):
        with T.Kernel(1, threads=64):
            T.alloc_fragment((16,), "float32")

    return main
