"""TensorCoreIntrinEmitter: products of warpgroups by hand, of tiles in shared memory.

The tiles are whole: layouts and the descriptors made of them are the compiler's, so what the
original offers for single instructions and their descriptors is refused, by name."""

from .... import language as T

_BY_HAND = ("wgmma_ss_atom", "wgmma_rs_atom", "init_wgmma_a_desc", "init_wgmma_b_desc",
            "compute_wgmma_a_desc_params", "compute_wgmma_b_desc_params", "make_mma_load_layout",
            "make_mma_store_layout", "ldmatrix_a", "ldmatrix_b", "mma", "mma_atom", "stmatrix")


def select_wgmma_inst_n(warp_col_tiles):
    """The widest N of m64nNk16 that divides so many columns: a multiple of 16 up to 256, else 8."""
    if warp_col_tiles % 16:
        return 8
    return next(n for n in range(256, 0, -16) if warp_col_tiles % n == 0)


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

    def __getattr__(self, name):
        if name in _BY_HAND:
            raise NotImplementedError("%s of a WGMMA emitter is not supported: layouts and "
                                      "descriptors are the compiler's; wgmma takes whole tiles"
                                      % name)
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
