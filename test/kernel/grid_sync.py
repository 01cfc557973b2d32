# Blocks that meet: what one wrote before T.sync_grid every other reads after it.
# verify: :totals
# verify: :totals M=3 N=50
# verify: :waves
# verify: :waves n=128
# verify: :planes
import tilelang
import tilelang.language as T


@tilelang.jit
def totals(M=6, N=40):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), S: T.Tensor((M,), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(M, threads=64) as bx:
            row = T.alloc_fragment((1, N), "float32")
            total = T.alloc_fragment((1,), "float32")
            T.copy(A[bx, 0], row)
            T.reduce_sum(row, total, dim=1)
            S[bx] = total[0]
            T.sync_grid()
            for j in T.Parallel(N):
                B[bx, j] = row[0, j] + S[(bx + 1) % M]

    return main


# Threads of their own, and two barriers of the grid.
@tilelang.jit
def waves(G=4, n=32):
    @T.prim_func
    def main(A: T.Tensor((G * n,), "int32"), W: T.Tensor((G * n,), "int32"), B: T.Tensor((G * n,), "int32")):
        with T.Kernel(G, threads=n) as bx:
            t = T.get_thread_binding()
            at = bx * n + t
            W[at] = A[at] + 1
            T.sync_grid()
            x = T.alloc_var("int32")
            x = W[(at + n) % (G * n)]
            T.sync_grid()
            W[at] = x * 2
            T.sync_grid()
            B[at] = W[G * n - 1 - at]

    return main


# Threads of three dimensions: one of them speaks for the block.
@tilelang.jit
def planes(G=3):
    @T.prim_func
    def main(A: T.Tensor((G * 32,), "int32"), W: T.Tensor((G * 32,), "int32"), B: T.Tensor((G * 32,), "int32")):
        with T.Kernel(G, threads=(8, 2, 2)) as bx:
            at = bx * 32 + T.get_thread_binding(2) * 16 + T.get_thread_binding(1) * 8 + T.get_thread_binding(0)
            W[at] = A[at] * 3
            T.sync_grid()
            B[at] = W[G * 32 - 1 - at]

    return main
