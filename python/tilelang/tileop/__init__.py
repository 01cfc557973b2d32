"""tilelang.tileop"""

from enum import IntEnum


class GemmWarpPolicy(IntEnum):
    """How warps share a GEMM; T.gemm takes it as it takes T.GemmWarpPolicy's."""

    Square = 0
    FullRow = 1
    FullCol = 2

    def is_square(self):
        return self is GemmWarpPolicy.Square

    def is_full_row(self):
        return self is GemmWarpPolicy.FullRow

    def is_full_col(self):
        return self is GemmWarpPolicy.FullCol

    def compute_warp_partition(self, M, N, num_warps):
        """Warps along rows and along columns of an M by N tile, for kernels that share it by hand; a warp has at
        least 16 rows and 8 columns."""
        down, across = M // 16, N // 8
        if self.is_full_row():
            rows = num_warps if M % (num_warps * 16) == 0 else max(down, 1)
            return rows, max(num_warps // rows, 1)
        if self.is_full_col():
            cols = num_warps if N % (num_warps * 8) == 0 else max(across, 1)
            return max(num_warps // cols, 1), cols
        ways = [(m, num_warps // m) for m in range(1, min(down, num_warps) + 1)
                if num_warps % m == 0 and num_warps // m <= across]
        return min(ways, key=lambda w: abs(M * w[1] * 8 / (N * w[0] * 16) - M / N), default=(1, 1))

    @classmethod
    def from_warp_partition(cls, m_warp, n_warp):
        if m_warp > 1 and n_warp == 1:
            return cls.FullRow
        return cls.FullCol if n_warp > 1 and m_warp == 1 else cls.Square
