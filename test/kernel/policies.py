# What T.GemmWarpPolicy says of itself: warps along rows and columns of a tile that a kernel shares by hand.
# verify:
import tilelang
import tilelang.language as T
from tilelang.tileop.base import GemmWarpPolicy


def shared_by(policy, M, N, n):
    rows, cols = policy.compute_warp_partition(M, N, n)
    return rows * 100 + cols


@tilelang.jit
def policies():
    square, row = GemmWarpPolicy.Square, T.GemmWarpPolicy(1)
    found = [shared_by(square, 128, 128, 4), shared_by(row, 128, 32, 4), shared_by(T.GemmWarpPolicy.FullCol, 16, 128, 4),
             shared_by(row, 32, 64, 4), shared_by(square, 64, 256, 8), shared_by(square, 8, 8, 4),
             T.GemmWarpPolicy.from_warp_partition(1, 4).value, T.GemmWarpPolicy.from_warp_partition(2, 2).value]
    assert found == [202, 401, 104, 202, 204, 101, 2, 0], found
    assert square.is_square() and row.is_full_row() and not row.is_full_col() and row.name == "FullRow"
    assert row == 1 and row == T.GemmWarpPolicy.FullRow and square != row

    @T.prim_func
    def main(A: T.Tensor((32, 32), "float16"), C: T.Tensor((32, 32), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((32, 32), "float16")
            c = T.alloc_fragment((32, 32), "float32")
            T.copy(A, a)
            T.gemm(a, a, c, policy=row, clear_accum=True)
            T.copy(c, C)

    return main
