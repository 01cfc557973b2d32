"""How wide a matrix instruction of sm_90 is."""


def select_wgmma_inst_n(warp_col_tiles):
    """The widest N of m64nNk16 that divides so many columns: a multiple of 16 up to 256, else 8."""
    if warp_col_tiles % 16:
        return 8
    return next(n for n in range(256, 0, -16) if warp_col_tiles % n == 0)
