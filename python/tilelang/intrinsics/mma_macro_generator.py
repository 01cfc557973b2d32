"""TensorCoreIntrinEmitter: products of warps by hand, from registers that are filled by hand.

A warp holds its rows of A, columns of B and tile of C in pieces of 16 by 16 (of A and B 16 by k),
each piece as mma.sync wants it.  T.gemm does all of this by itself, and better."""

from .. import language as T
from . import __getattr__  # noqa: F401
from .mma_layout import _bits

_WORDS = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "int8": "int8",
          "uint8": "uint8", "int32": "int32", "float8_e4m3fn": "e4m3", "float8_e4m3": "e4m3",
          "float8_e5m2": "e5m2"}


def _is_fragment(buffer):
    return buffer.scope() == "local.fragment"


def _has(buffer, scope):
    return hasattr(buffer, "scope") and buffer.scope().split(".")[0] == scope and not _is_fragment(buffer)


class TensorCoreIntrinEmitter:
    M_DIM = n_dim = 16
    WARP_SIZE = 32

    def __init__(self, a_dtype="float16", b_dtype="float16", accum_dtype="float16",
                 a_transposed=False, b_transposed=False, block_row_warps=2, block_col_warps=2,
                 warp_row_tiles=8, warp_col_tiles=8, chunk=16, reduce_k=1, num_elems_per_byte=1,
                 is_m_first=False, thread_var=None):
        if _bits(a_dtype) not in (8, 16) or _bits(b_dtype) != _bits(a_dtype):
            raise NotImplementedError("TensorCoreIntrinEmitter of %s and %s is not supported; "
                                      "T.gemm is" % (a_dtype, b_dtype))
        if reduce_k != 1 or num_elems_per_byte != 1:
            raise NotImplementedError("TensorCoreIntrinEmitter with reduce_k or packed elements "
                                      "is not supported; T.gemm is")
        self.a_dtype, self.b_dtype, self.accum_dtype = a_dtype, b_dtype, accum_dtype
        self.a_transposed, self.b_transposed = bool(a_transposed), bool(b_transposed)
        self.block_row_warps, self.block_col_warps = block_row_warps, block_col_warps
        self.warp_row_tiles, self.warp_col_tiles, self.chunk = warp_row_tiles, warp_col_tiles, chunk
        self.is_m_first, self.thread_var = is_m_first, thread_var
        self.k_dim = self.micro_size_k = 256 // _bits(a_dtype)
        self.micro_size_x = self.micro_size_y = 16
        self.warp_rows, self.warp_cols = warp_row_tiles // 16, warp_col_tiles // 16
        self.local_size_a = self.local_size_b = 16 * self.k_dim // 32
        self.local_size_out = 8
        self.threads = 32 * block_row_warps * block_col_warps
        if not self.warp_rows or not self.warp_cols or chunk < self.k_dim:
            raise ValueError("a warp's tile is at least 16 by 16 by %d, not %d by %d by %d"
                             % (self.k_dim, warp_row_tiles, warp_col_tiles, chunk))

    def get_thread_binding(self):
        return T.get_thread_binding() if self.thread_var is None else self.thread_var

    def extract_thread_binding(self, thread_id, is_m_first=None):
        """Lane, and column and row of the warp among those of the block."""
        first = self.is_m_first if is_m_first is None else is_m_first
        warp = thread_id // 32
        rows, cols = self.block_row_warps, self.block_col_warps
        if first:
            return thread_id % 32, warp // rows % cols, warp % rows
        return thread_id % 32, warp % cols, warp // cols % rows

    def _load(self, local, shared, ki, rk, row_first, own_rows, count, turned, along_first):
        """own_rows pieces of 16 rows, in the order of registers that the operand has."""
        each, k_dim, chunk = self.k_dim // 8, self.k_dim, self.chunk
        lane = self.extract_thread_binding(self.get_thread_binding())[0]

        @T.macro
        def load_matrices(local, slot, shared, lane, row, k):
            if turned:
                down = lane % 16 if along_first else lane // 16 * 8 + lane % 8
                across = lane // 16 * 8 if along_first else lane // 8 % 2 * 8
                T.ptx_ldmatrix(True, 4, T.address_of(shared[k + down, row + across]), T.address_of(local[slot]))
            else:
                down = lane // 16 * 8 + lane % 8 if along_first else lane % 16
                across = (lane // 8 % 2 if along_first else lane // 16) * 4 * each
                T.ptx_ldmatrix(False, 4, T.address_of(shared[row + down, k + across]), T.address_of(local[slot]))

        @T.macro
        def load_all(local, shared, ki, rk, lane, row_first):
            for i in T.unroll(own_rows):
                load_matrices(local, i * count, shared, lane, row_first + i * 16, rk * chunk + ki * k_dim)

        if (_has(shared, "shared") and _has(local, "local") and len(local.shape) == 1 and len(shared.shape) == 2
                and self.thread_var is None and not (turned and each > 2)):
            return load_all(local, shared, ki, rk, lane, row_first)

        @T.macro
        def load(local, shared, ki, rk, lane, row_first):
            for i in T.unroll(own_rows):
                for reg in T.unroll(count // each):
                    down = reg // 2 if along_first else reg % 2
                    along = reg % 2 if along_first else reg // 2
                    row = row_first + i * 16 + lane // 4 + 8 * down
                    k = rk * chunk + ki * k_dim + lane % 4 * each + 4 * each * along
                    for e in T.vectorized(each):
                        if turned:
                            local[i * count + reg * each + e] = shared[k + e, row]
                        else:
                            local[i * count + reg * each + e] = shared[row, k + e]

        return load(local, shared, ki, rk, lane, row_first)

    def ldmatrix_a(self, A_local_buf, A_shared_buf, ki, rk=0):
        warp_m = self.extract_thread_binding(self.get_thread_binding())[2]
        return self._load(A_local_buf, A_shared_buf, ki, rk, warp_m * self.warp_row_tiles,
                          self.warp_rows, self.local_size_a, self.a_transposed, False)

    def ldmatrix_b(self, B_local_buf, B_shared_buf, ki, rk=0):
        warp_n = self.extract_thread_binding(self.get_thread_binding())[1]
        return self._load(B_local_buf, B_shared_buf, ki, rk, warp_n * self.warp_col_tiles,
                          self.warp_cols, self.local_size_b, not self.b_transposed, True)

    mma_num_inst_m = property(lambda self: self.warp_rows)
    mma_num_inst_n = property(lambda self: self.warp_cols)

    def mma_atom(self, A_local_buf, B_local_buf, C_local_buf, inst_m_idx, inst_n_idx, k_inner=0):
        """One piece of C; only fragments hold the pieces of every k."""
        a, b, acc = (_WORDS[str(T.dtype(t))] for t in (self.a_dtype, self.b_dtype,
                                                       self.accum_dtype))
        shape, rows, cols = "m16n8k%d" % self.k_dim, self.warp_rows, self.warp_cols
        na, nb, nc = self.local_size_a, self.local_size_b, self.local_size_out
        dtype = str(T.dtype(self.accum_dtype))
        ka = k_inner if _is_fragment(A_local_buf) else 0
        kb = k_inner if _is_fragment(B_local_buf) else 0

        @T.macro
        def multiply(A, B, C, i, j, ka, kb):
            for h in T.unroll(2):
                T.ptx_mma(dtype, shape, "row", "col", a, b, acc,
                          A, ka * rows * na + i * na,
                          B, kb * cols * nb + j * nb + h * (nb // 2),
                          C, (i * cols + j) * nc + h * (nc // 2))

        return multiply(A_local_buf, B_local_buf, C_local_buf, inst_m_idx, inst_n_idx, ka, kb)

    def mma(self, A_local_buf, B_local_buf, C_local_buf, k_inner=0):
        a, b, acc = (_WORDS[str(T.dtype(t))] for t in (self.a_dtype, self.b_dtype,
                                                       self.accum_dtype))
        shape, rows, cols = "m16n8k%d" % self.k_dim, self.warp_rows, self.warp_cols
        na, nb, nc = self.local_size_a, self.local_size_b, self.local_size_out
        dtype = str(T.dtype(self.accum_dtype))

        @T.macro
        def multiply(A, B, C, k):
            for i in T.unroll(rows):
                for j in T.unroll(cols):
                    for h in T.unroll(2):
                        T.ptx_mma(dtype, shape, "row", "col", a, b, acc,
                                  A, k * rows * na + i * na,
                                  B, k * cols * nb + j * nb + h * (nb // 2),
                                  C, (i * cols + j) * nc + h * (nc // 2))

        return multiply(A_local_buf, B_local_buf, C_local_buf, k_inner)

    def stmatrix(self, C_local_buf, C_buf, pid_m=None, pid_n=None):
        """Into a tile of two dimensions, or of four (pieces, then elements); with pid_m and pid_n
        into a tensor, at the block's tile."""
        lane, warp_n, warp_m = self.extract_thread_binding(self.get_thread_binding())
        rows, cols, n = self.warp_rows, self.warp_cols, self.local_size_out
        pieces = len(C_buf.shape) == 4
        top, left = warp_m * rows, warp_n * cols
        if pid_m is not None and pid_n is not None:
            top = pid_m * self.block_row_warps * rows + top
            left = pid_n * self.block_col_warps * cols + left

        @T.macro
        def put(C_local, C, lane, top, left):
            for i in T.unroll(rows):
                for j in T.unroll(cols):
                    for s in T.unroll(n // 2):
                        row = lane // 4 + 8 * (s % 2)
                        col = lane % 4 * 2 + 8 * (s // 2)
                        first = (i * cols + j) * n + s * 2
                        for e in T.vectorized(2):
                            if pieces:
                                C[top + i, left + j, row, col + e] = C_local[first + e]
                            else:
                                C[(top + i) * 16 + row, (left + j) * 16 + col + e] = C_local[
                                    first + e]

        return put(C_local_buf, C_buf, lane, top, left)
