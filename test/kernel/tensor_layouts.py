# T.annotate_layout of a tensor: where its elements lie in its memory.
# verify: :sums
# verify: :sums B=1 L=24 H=2
# verify: :tile_sums
# verify: :back
# verify: :back L=40
# verify: :order
# verify: :order L=40
# verify: :filled
# verify: :edges
import tilelang
import tilelang.language as T


def by_lanes(x):
    """Of 8 x 8 elements those that the lanes of a warp hold in one register lie side by side."""
    return T.Layout(x.shape, lambda b, l, h, d: [b, l // 8, h, d // 8, d % 2, 4 * (l % 8) + d % 8 // 2])


@tilelang.jit
def sums(B=2, L=64, H=3, D=64):
    @T.prim_func
    def main(X: T.Tensor((B, L, D), "float16"), Y: T.Tensor((D, D), "float16"), Q: T.Tensor((B, L, H, D), "float32")):
        with T.Kernel(T.ceildiv(L, 64), H, B, threads=128) as (bx, by, bz):
            T.annotate_layout({Q: by_lanes(Q)})
            xs = T.alloc_shared((64, D), "float16")
            ys = T.alloc_shared((D, D), "float16")
            q = T.alloc_fragment((64, D), "float32")
            T.copy(X[bz, bx * 64, 0], xs)
            T.copy(Y, ys)
            T.gemm(xs, ys, q, clear_accum=True)
            for i, j in T.Parallel(64, D):
                T.atomic_add(Q[bz, bx * 64 + i, by, j], q[i, j])

    return main


@tilelang.jit
def tile_sums(B=2, L=64, H=3, D=64):
    @T.prim_func
    def main(X: T.Tensor((B, L, D), "float16"), Y: T.Tensor((D, D), "float16"), Q: T.Tensor((B, L, H, D), "float32")):
        with T.Kernel(T.ceildiv(L, 64), H, B, threads=128) as (bx, by, bz):
            xs = T.alloc_shared((64, D), "float16")
            ys = T.alloc_shared((D, D), "float16")
            q = T.alloc_fragment((64, D), "float32")
            T.copy(X[bz, bx * 64, 0], xs)
            T.copy(Y, ys)
            T.gemm(xs, ys, q, clear_accum=True)
            T.atomic_add(Q[bz, bx * 64:(bx + 1) * 64, by, :], q)
            T.annotate_layout({Q: by_lanes(Q)})

    return main


@tilelang.jit
def back(B=2, L=64, H=3, D=64):
    @T.prim_func
    def main(Q: T.Tensor((B, L, H, D), "float32"), O: T.Tensor((B, L, H, D), "float16")):
        with T.Kernel(T.ceildiv(L, 32), H, B, threads=128) as (bx, by, bz):
            T.annotate_layout({Q: by_lanes(Q)})
            T.copy(Q[bz, bx * 32:(bx + 1) * 32, by, :], O[bz, bx * 32:(bx + 1) * 32, by, :])

    return main


@tilelang.jit
def order(L=64, H=3, D=128):
    @T.prim_func
    def main(A: T.Tensor((L, H, D), "float32"), O: T.Tensor((L, H, D), "float32")):
        with T.Kernel(H, T.ceildiv(L, 32), threads=128) as (by, bx):
            T.annotate_layout({A: T.Layout(A.shape, lambda l, h, d: [h, l, d])})
            s = T.alloc_shared((32, D), "float32")
            T.copy(A[bx * 32:(bx + 1) * 32, by, :], s)
            T.copy(s, O[bx * 32:(bx + 1) * 32, by, :])

    return main


@tilelang.jit
def filled(M=16, N=32):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32")):
        with T.Kernel(2, threads=32) as bx:
            T.annotate_layout({A: T.Layout(A.shape, lambda i, j: [j // 8, i, j % 8])})
            T.fill(A[bx * 8:bx * 8 + 8, 0:N // 2], 3.0)

    return main


# One past the end of a row is nowhere, though the layout would put it into the next row.
@tilelang.jit
def edges(M=16, N=32):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), O: T.Tensor((M, N + 8), "float32")):
        with T.Kernel(1, threads=32):
            T.annotate_layout({A: T.Layout(A.shape, lambda i, j: [(i * N + j) // 4 % 2, (i * N + j) // 8, j % 4])})
            for i, j in T.Parallel(M, N + 8):
                O[i, j] = A[i, j - 4]

    return main
