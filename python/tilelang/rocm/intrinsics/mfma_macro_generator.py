"""MatrixCoreIntrinEmitter: products of waves by hand, from registers that are filled by hand.

A wave holds its rows of A, columns of B and tile of C in pieces, each as v_mfma wants it; columns of
the product are its rows, so that a lane has four neighbours of a row of C.  T.gemm does all of this by
itself, and better."""

from ... import language as T
from ..._target import determine_target
from ..target import target_is_gfx950
from . import mfma_layout as _layout

_KINDS = {"float8_e4m3fn": "fp8", "float8_e4m3fnuz": "fp8", "float8_e5m2": "bf8", "float8_e5m2fnuz": "bf8",
          "float16": "f16", "bfloat16": "bf16", "float32": "f32", "int8": "i8", "int32": "i32"}


def _is_fragment(buffer):
    return buffer.scope() == "local.fragment"


def _suffix(m, n, k, a, b, acc):
    """The name of the instruction behind v_mfma_, which has a line before the type since 8-bit ones."""
    shape = "%s_%dx%dx%d" % (_KINDS[acc], m, n, k)
    a, b = _KINDS[a], _KINDS[b]
    if a in ("fp8", "bf8"):
        return "%s_%s_%s" % (shape, a, b)
    if a == "i8":
        return shape + ("i8" if k * m < 512 else "_i8")
    if a == "bf16":
        return shape + ("bf16_1k" if k * m < 512 else "_bf16")
    return shape + ("_f16" if a == "f16" and k * m >= 512 else a)


class MatrixCoreIntrinEmitter:
    WARP_SIZE = 64
    is_m_first = False

    def __init__(self, a_dtype="float16", b_dtype="float16", accum_dtype="float16", a_transposed=False,
                 b_transposed=False, block_row_warps=2, block_col_warps=2, warp_row_tiles=8, warp_col_tiles=8,
                 chunk=16, reduce_k=1, num_elems_per_byte=1, k_pack=None, is_m_first=False, b_preshuffle=False,
                 thread_var=None, target=None, mfma_shape=None):
        if reduce_k != 1 or num_elems_per_byte != 1:
            raise NotImplementedError("MatrixCoreIntrinEmitter with reduce_k or packed elements is not supported; "
                                      "T.gemm is")
        self.a_dtype, self.b_dtype, self.accum_dtype = (str(T.dtype(t)) for t in (a_dtype, b_dtype, accum_dtype))
        self.a_transposed, self.b_transposed = bool(a_transposed), bool(b_transposed)
        self.block_row_warps, self.block_col_warps = block_row_warps, block_col_warps
        self.warp_row_tiles, self.warp_col_tiles, self.chunk = warp_row_tiles, warp_col_tiles, chunk
        self.is_m_first, self.thread_var = bool(is_m_first), thread_var
        self.a_preshuffle, self.b_preshuffle = False, bool(b_preshuffle)
        self.target = determine_target() if target is None else target
        self.k_pack = k_pack or 1
        self._take_shape(mfma_shape)
        self.warp_rows, self.warp_cols = warp_row_tiles // self.M_DIM, warp_col_tiles // self.N_DIM
        self.threads = 64 * block_row_warps * block_col_warps
        if not self.warp_rows or not self.warp_cols or chunk < self.k_dim * self.k_pack:
            raise ValueError("a wave's tile is at least %d by %d by %d, not %d by %d by %d"
                             % (self.M_DIM, self.N_DIM, self.k_dim * self.k_pack, warp_row_tiles, warp_col_tiles, chunk))

    def _take_shape(self, shape):
        bits = T.dtype(self.a_dtype).bits
        if bits not in (8, 16, 32) or T.dtype(self.b_dtype).bits != bits:
            raise NotImplementedError("MatrixCoreIntrinEmitter of %s and %s is not supported; T.gemm is"
                                      % (self.a_dtype, self.b_dtype))
        self.M_DIM, self.N_DIM, self.k_dim = shape or (16, 16, {8: 32, 16: 16, 32: 4}[bits])
        if bits == 16 and self.k_dim == 16 and self.k_pack == 2 and target_is_gfx950(self.target):
            self.k_dim, self.k_pack = 32, 1  # the instruction of twice the length
        self.micro_size_x, self.micro_size_y, self.micro_size_k = self.M_DIM, self.N_DIM, self.k_dim
        self.local_size_a, self.local_size_b = self.M_DIM * self.k_dim // 64, self.N_DIM * self.k_dim // 64
        self.local_size_out = self.M_DIM * self.N_DIM // 64
        self.mfma_suffix = _suffix(self.N_DIM, self.M_DIM, self.k_dim, self.b_dtype, self.a_dtype, self.accum_dtype)

    def get_thread_binding(self):
        return T.get_thread_binding() if self.thread_var is None else self.thread_var

    def extract_thread_binding(self, thread_id, is_m_first=None):
        """Lane, and column and row of the wave among those of the block."""
        first = self.is_m_first if is_m_first is None else is_m_first
        wave, rows, cols = thread_id // 64, self.block_row_warps, self.block_col_warps
        if first:
            return thread_id % 64, wave % cols, wave // cols % rows
        return thread_id % 64, wave // rows % cols, wave % rows

    def get_ldmatrix_index_map(self, is_b=False):
        """(row, column) -> (lane, slot) of a piece as it lies in memory, and the inverse."""
        rows = self.N_DIM if is_b else self.M_DIM
        maps = _layout._along_k(rows, (self.local_size_b if is_b else self.local_size_a) * self.k_pack)
        along_k = self.b_transposed if is_b else not self.a_transposed
        return maps if along_k else _layout._turned(*maps)

    def _place(self, lane, slot):
        """Row and column of C."""
        return (_layout.thread_id_shared_access_64x16_to_32x32_layout_C_n_m if self.M_DIM == 32 else
                _layout.thread_id_shared_access_64x4_to_16x16_layout_C_n_m)(lane, slot)

    # ---- operands

    def _load(self, local, source, ki, rk, is_b, block):
        """The pieces of a wave; in a shuffled operand pieces lie together, rows of them of a block."""
        n = (self.local_size_b if is_b else self.local_size_a) * self.k_pack
        pieces, size = (self.warp_cols, self.N_DIM) if is_b else (self.warp_rows, self.M_DIM)
        each, waves = self.k_dim * self.k_pack, self.block_col_warps if is_b else self.block_row_warps
        along_k = self.b_transposed if is_b else not self.a_transposed
        shuffled = self.b_preshuffle if is_b else self.a_preshuffle
        chunk, (hold, place) = self.chunk, self.get_ldmatrix_index_map(is_b)
        lane, warp_n, warp_m = self.extract_thread_binding(self.get_thread_binding())
        first = (warp_n if is_b else warp_m) * pieces
        if block is not None:
            first = block * waves * pieces + first

        @T.macro
        def load(local, source, ki, rk, lane, first):
            for i in T.unroll(pieces):
                for s in T.vectorized(n):
                    row, col = place(lane, s)
                    if shuffled and along_k:
                        local[i * n + s] = source[first + i, rk * (chunk // each) + ki, row, col]
                    elif shuffled:
                        local[i * n + s] = source[rk * (chunk // each) + ki, first + i, row, col]
                    elif along_k:
                        local[i * n + s] = source[(first + i) * size + row, rk * chunk + ki * each + col]
                    else:
                        local[i * n + s] = source[rk * chunk + ki * each + row, (first + i) * size + col]

        return load(local, source, ki, rk, lane, first)

    def ldmatrix_a(self, A_local_buf, A_shared_buf, ki, rk=0):
        return self._load(A_local_buf, A_shared_buf, ki, rk, False, None)

    def ldmatrix_b(self, B_local_buf, B_shared_buf, ki, rk=0):
        return self._load(B_local_buf, B_shared_buf, ki, rk, True, None)

    # ---- products

    def mfma(self, A_local_buf, B_local_buf, C_local_buf, k_inner=0):
        if _is_fragment(A_local_buf) or _is_fragment(B_local_buf):
            raise NotImplementedError("MatrixCoreIntrinEmitter.mfma of fragments (step %s) is not supported; T.gemm is" % k_inner)
        suffix, pack, rows, cols = self.mfma_suffix, self.k_pack, self.warp_rows, self.warp_cols
        a, b, acc = self.a_dtype, self.b_dtype, self.accum_dtype

        @T.macro
        def multiply(A, B, C):
            for p in T.unroll(pack):
                for i in T.unroll(rows):
                    for j in T.unroll(cols):
                        T.tvm_mfma(suffix, "row", "row", b, a, acc, B.data, j * pack + p, A.data, i * pack + p,
                                   C.data, i * cols + j)

        if _is_fragment(C_local_buf):
            return self._mfma_tile(A_local_buf, B_local_buf, C_local_buf)
        return multiply(A_local_buf, B_local_buf, C_local_buf)

    def _mfma_tile(self, A_local_buf, B_local_buf, C_local_buf):
        """Into a fragment, whose layout is make_mfma_store_layout's: rows of the product are its rows."""
        a, b, acc, pack, rows, cols = (self.a_dtype, self.b_dtype, self.accum_dtype, self.k_pack, self.warp_rows,
                                       self.warp_cols)
        m, n = self.M_DIM, self.N_DIM
        suffix = _suffix(m, n, self.k_dim, a, b, acc)
        lane, warp_n, warp_m = self.extract_thread_binding(self.get_thread_binding())

        @T.macro
        def multiply(A, B, C, top, left):
            for p in T.unroll(pack):
                for i in T.unroll(rows):
                    for j in T.unroll(cols):
                        T.tvm_mfma(suffix, "row", "row", a, b, acc, A.data, i * pack + p, B.data, j * pack + p,
                                   C[top + i * m:top + i * m + m, left + j * n:left + j * n + n], 0)

        return multiply(A_local_buf, B_local_buf, C_local_buf, warp_m * rows * m, warp_n * cols * n)

    def make_mfma_store_layout(self, local_buf):
        """Who holds what of a fragment that mfma() adds to."""
        m, n, rows, cols, each = self.M_DIM, self.N_DIM, self.warp_rows, self.warp_cols, self.local_size_out
        down, across, first = self.block_row_warps, self.block_col_warps, self.is_m_first

        def holder(i, j):
            row, col, warp_m, warp_n = i % m, j % n, i // m // rows, j // n // cols
            lane = row // 4 * 16 + col if m == 16 else row // 4 % 2 * 32 + col
            return (warp_m * across + warp_n if first else warp_n * down + warp_m) * 64 + lane

        def slot(i, j):
            row = i % m
            own = row % 4 if m == 16 else row // 8 * 4 + row % 4
            return (i // m % rows * cols + j // n % cols) * each + own

        return T.Fragment([int(d) for d in local_buf.shape], forward_thread_fn=holder, forward_index_fn=slot)

    # ---- results

    def stmatrix(self, C_local_buf, C_buf, pid_m=None, pid_n=None):
        """Into a tile of two dimensions, or of four (pieces, then elements); with pid_m and pid_n into a
        tensor, at the block's tile."""
        lane, warp_n, warp_m = self.extract_thread_binding(self.get_thread_binding())
        rows, cols, n, m_dim, n_dim = self.warp_rows, self.warp_cols, self.local_size_out, self.M_DIM, self.N_DIM
        pieces, place, top, left = len(C_buf.shape) == 4, self._place, warp_m * rows, warp_n * cols
        if pid_m is not None and pid_n is not None:
            top = pid_m * self.block_row_warps * rows + top
            left = pid_n * self.block_col_warps * cols + left

        @T.macro
        def put(C_local, C, lane, top, left):
            for i in T.unroll(rows):
                for j in T.unroll(cols):
                    for s in T.vectorized(n):
                        row, col = place(lane, s)
                        if pieces:
                            C[top + i, left + j, row, col] = C_local[(i * cols + j) * n + s]
                        else:
                            C[(top + i) * m_dim + row, (left + j) * n_dim + col] = C_local[(i * cols + j) * n + s]

        return put(C_local_buf, C_buf, lane, top, left)


class MatrixCorePreshuffleIntrinEmitter(MatrixCoreIntrinEmitter):
    """Operands whose pieces lie together in memory (a_preshuffle, b_preshuffle): from a shared tile, or with
    pid_m or pid_n straight from the tensor."""

    def __init__(self, *args, a_preshuffle=False, **options):
        super().__init__(*args, **options)
        self.a_preshuffle = bool(a_preshuffle)

    def ldmatrix_a(self, A_local_buf, A_buf, ki, rk=0, pid_m=None, pid_n=None):
        return self._load(A_local_buf, A_buf, ki, rk, False, self._block(self.a_preshuffle, pid_m, pid_n))

    def ldmatrix_b(self, B_local_buf, B_buf, ki, rk=0, pid_m=None, pid_n=None):
        return self._load(B_local_buf, B_buf, ki, rk, True, self._block(self.b_preshuffle, pid_n, pid_m))

    @staticmethod
    def _block(shuffled, own, other):
        """The block's number along the operand, of a tensor; None: it is a shared tile."""
        if own is None and other is not None:
            raise ValueError("pid_m and pid_n name the block together")
        return own if shuffled else None
