"""TensorCoreIntrinEmitter: products of warpgroups by hand, of tiles in shared memory.

Descriptors are the compiler's: of what the original has for them the parameters keep which tile is
meant, and a single instruction is the product of its parts of the tiles."""

from .... import language as T

_BY_HAND = ("make_mma_load_layout", "ldmatrix_a", "ldmatrix_b", "mma", "mma_atom", "stmatrix")


def select_wgmma_inst_n(warp_col_tiles):
    """The widest N of m64nNk16 that divides so many columns: a multiple of 16 up to 256, else 8."""
    if warp_col_tiles % 16:
        return 8
    return next(n for n in range(256, 0, -16) if warp_col_tiles % n == 0)


class _Operand:
    """What the parameters of a descriptor stand for: a tile, or a part of one."""

    def __init__(self, region, is_k_major, dtype):
        self.buffer = getattr(region, "buffer", region)
        ranges = getattr(region, "region", None)
        self.start = [r.min for r in ranges][-2:] if ranges is not None else [0, 0]
        self.is_k_major, self.elems_in_bytes = is_k_major, T.dtype(dtype).bits // 8
        if len(self.buffer.shape) != 2:
            raise NotImplementedError("single instructions take tiles of two dimensions, not %d"
                                      % len(self.buffer.shape))


class TensorCoreIntrinEmitter:
    WARP_SIZE = 32
    wgmma_inst_m = 64

    def __init__(self, a_dtype="float16", b_dtype="float16", accum_dtype="float16",
                 a_transposed=False, b_transposed=False, block_row_warps=2, block_col_warps=2,
                 warp_row_tiles=8, warp_col_tiles=8, chunk=16, reduce_k=1, num_elems_per_byte=1,
                 is_m_first=False, thread_var=None):
        if reduce_k != 1 or num_elems_per_byte != 1 or is_m_first or thread_var is not None:
            raise NotImplementedError("a WGMMA emitter with reduce_k, packed elements, is_m_first "
                                      "or thread_var is not supported; T.wgmma_gemm is")
        if block_row_warps % 4:
            raise ValueError("warpgroups have 4 warps, one above the other: block_row_warps is a "
                             "multiple of 4, not %d" % block_row_warps)
        self.a_dtype, self.b_dtype, self.accum_dtype = a_dtype, b_dtype, accum_dtype
        self.a_transposed, self.b_transposed = bool(a_transposed), bool(b_transposed)
        self.block_row_warps, self.block_col_warps = block_row_warps, block_col_warps
        self.warp_row_tiles, self.warp_col_tiles, self.chunk = warp_row_tiles, warp_col_tiles, chunk
        self.micro_size_k = 256 // T.dtype(a_dtype).bits
        self.wgmma_inst_n = select_wgmma_inst_n(warp_col_tiles)
        self.threads = 32 * block_row_warps * block_col_warps
        if chunk < self.micro_size_k:
            raise ValueError("a product takes at least %d of k, not %d" % (self.micro_size_k, chunk))

        self.wgmma_num_inst_m = 4 * warp_row_tiles // self.wgmma_inst_m
        self.wgmma_num_inst_n = warp_col_tiles // self.wgmma_inst_n
        self._made = set()  # names of descriptors
        self.wgmma_num_k_atoms = chunk // self.micro_size_k

    def __getattr__(self, name):
        if name in _BY_HAND:
            raise NotImplementedError("%s of a WGMMA emitter is not supported: it is of warps, "
                                      "not of warpgroups" % name)
        raise AttributeError("a WGMMA emitter has no %s" % name)

    def _policy(self):
        if self.block_col_warps == 1:
            return T.GemmWarpPolicy.FullRow
        return T.GemmWarpPolicy.FullCol if self.block_row_warps == 4 else T.GemmWarpPolicy.Square

    def wgmma(self, A_region, B_region, C_region, clear_accum=False, wg_wait=0):
        """C += A @ B, A in shared memory or a fragment; wg_wait < 0 leaves it to wgmma_wait."""
        ta, tb, policy, wait = self.a_transposed, self.b_transposed, self._policy(), wg_wait

        @T.macro
        def multiply(A, B, C, clear):
            T.wgmma_gemm(A, B, C, transpose_A=ta, transpose_B=tb, policy=policy, clear_accum=clear)
            if wait >= 0:
                T.wait_wgmma(wait)

        return multiply(A_region, B_region, C_region, clear_accum)

    wgmma_rs = wgmma

    def wgmma_arrive(self):
        """T.wgmma_gemm does this by itself."""

    wgmma_commit = wgmma_fence_a = wgmma_fence_c = lambda self, buffer=None: None

    def wgmma_wait(self, n=0):
        return T.wait_wgmma(n)

    # ---- single instructions

    def _assign_a_shared_layout(self, layout):
        """T.annotate_layout says it, or the compiler chooses."""
        return self

    _assign_b_shared_layout = _assign_a_shared_layout

    def compute_wgmma_a_desc_params(self, A_region):
        return _Operand(A_region, not self.a_transposed, self.a_dtype)

    def compute_wgmma_b_desc_params(self, B_region):
        return _Operand(B_region, self.b_transposed, self.b_dtype)

    def init_wgmma_a_desc(self, desc, region, params):
        """The compiler makes the descriptor, of what the parameters keep."""
        if getattr(region, "buffer", region).name != params.buffer.name:
            raise ValueError("the parameters are those of %s, not of %s"
                             % (params.buffer.name, getattr(region, "buffer", region).name))
        self._made.add(desc.name)

    init_wgmma_b_desc = init_wgmma_a_desc

    def make_mma_store_layout(self, local_buf):
        """Where the instructions keep C: a Fragment."""
        rows, cols = (int(n) for n in local_buf.shape)
        high, wide = 4 * self.warp_row_tiles, self.warp_col_tiles
        slots = wide // 2

        def forward(i, j):
            group = i // high * (cols // wide) + j // wide
            lane = i % 64 // 16 * 32 + i % 8 * 4 + j % 8 // 2
            slot = j % wide // 8 * 4 + i % 16 // 8 * 2 + j % 2
            return group * 128 + lane, i % high // 64 * slots + slot

        return T.Fragment([rows, cols], forward_fn=forward)

    def _part(self, i, count, step, warps, whole):
        """Where instruction i of `count` starts and how long it is, along one side of C."""
        if warps == 1:
            return i * step, step
        if count == 1:
            return 0, whole
        raise NotImplementedError("single instructions of several warpgroups, each with %d of them "
                                  "side by side, are not supported; wgmma is" % count)

    def _atom(self, A, a_start, B, b_start, C, m, n, ki, clear_accum):
        ta, tb, k = self.a_transposed, self.b_transposed, self.micro_size_k
        groups = self.block_row_warps // 4
        i, rows = self._part(m, self.wgmma_num_inst_m, 64, groups, 4 * groups * self.warp_row_tiles)
        j, cols = self._part(n, self.wgmma_num_inst_n, self.wgmma_inst_n, self.block_col_warps,
                             self.block_col_warps * self.warp_col_tiles)
        a0, a1 = (a_start[0] + (ki * k if ta else i), a_start[1] + (i if ta else ki * k))
        b0, b1 = (b_start[0] + (j if tb else ki * k), b_start[1] + (ki * k if tb else j))
        (an, am), (bn, bm) = (k, rows) if ta else (rows, k), (cols, k) if tb else (k, cols)
        policy = self._policy()

        @T.macro
        def multiply(A, B, C, clear):
            T.wgmma_gemm(A[a0:a0 + an, a1:a1 + am], B[b0:b0 + bn, b1:b1 + bm],
                         C[i:i + rows, j:j + cols], transpose_A=ta, transpose_B=tb, policy=policy,
                         clear_accum=clear)

        return multiply(A, B, C, T.And(T.bool(clear_accum), ki == 0))

    def _check_made(self, *descs):
        for d in descs:
            if d.name not in self._made:
                raise ValueError("%s was not made by init_wgmma_a_desc or init_wgmma_b_desc" % d.name)

    def wgmma_ss_atom(self, desc_a, desc_b, C_buf, inst_m_idx, inst_n_idx, ki, a_params, b_params,
                      clear_accum=False):
        """C += A @ B of one instruction: rows inst_m_idx, columns inst_n_idx, step ki of k."""
        self._check_made(desc_a, desc_b)
        return self._atom(a_params.buffer, a_params.start, b_params.buffer, b_params.start, C_buf,
                          inst_m_idx, inst_n_idx, ki, clear_accum)

    def wgmma_rs_atom(self, A_buf, desc_b, C_buf, inst_m_idx, inst_n_idx, ki, b_params,
                      clear_accum=False):
        """The same, A in a fragment."""
        self._check_made(desc_b)
        return self._atom(A_buf, [0, 0], b_params.buffer, b_params.start, C_buf, inst_m_idx,
                          inst_n_idx, ki, clear_accum)


WGMMATensorCoreIntrinEmitter = TensorCoreIntrinEmitter
