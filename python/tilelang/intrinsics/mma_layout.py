"""Which lane of a warp holds which element of an operand of mma.sync, and in which of its slots.

The names count rows, columns, lanes and slots; a is the left operand (rows by k), b the right one
(columns by k)."""

from ..language import dtype as _dtype


def _bits(dtype):
    return _dtype(dtype).bits


def _holder(row, k, each):
    """The lane, for `each` neighbours along k in one register, and the place in the register."""
    return 4 * (row % 8) + k % (4 * each) // each, k % each


def _operand(each, rows_first):
    """Registers go down the rows first for a, along k first for b."""

    def place(i, j):
        lane, inner = _holder(i, j, each)
        down, along = i // 8, j // (4 * each)
        return lane, each * (2 * along + down if rows_first else 2 * down + along) + inner

    return place


shared_16x8_to_mma_a_32x4_layout = _operand(1, True)
shared_16x8_to_mma_b_32x4_layout = _operand(1, False)
shared_16x16_to_mma_a_32x8_layout = _operand(2, True)
shared_16x16_to_mma_b_32x8_layout = _operand(2, False)
shared_16x32_to_mma_a_32x16_layout = _operand(4, True)
shared_16x32_to_mma_b_32x16_layout = _operand(4, False)


def _turned(place):
    return lambda i, j: place(j, i)


for _shape, _lanes in (("16x8", "32x4"), ("16x16", "32x8"), ("16x32", "32x16")):
    for _side in "ab":
        _f = globals()["shared_%s_to_mma_%s_%s_layout" % (_shape, _side, _lanes)]
        globals()["shared_%s_to_mma_%s_layout_sr_%s" % (_shape, _lanes, _side)] = _f
        globals()["shared_%s_to_mma_%s_layout_rs_%s" % (_shape, _lanes, _side)] = _turned(_f)


def mma_store_32x8_to_shared_16x16_layout(thread_id, local_id):
    """Row and column of what a lane holds of two results of 16 rows and 8 columns."""
    row = thread_id // 4 + 8 * (local_id % 4 // 2)
    return row, 8 * (local_id // 4) + thread_id % 4 * 2 + local_id % 2


mma_store_index_map = mma_32x8_to_shared_16x16_layout = mma_store_32x8_to_shared_16x16_layout


def get_mma_micro_size(dtype):
    """Rows, columns and depth of the tiles operands are cut into."""
    return 16, 16, 32 if str(dtype) in ("float8_e4m3", "float8_e5m2", "int8") else 16


def get_swizzle_layout(row_idx, col_idx, row_size, dtype, swizzle_bytes=None):
    """Panel, row and column of an element, units of 16 bytes exchanged within rows."""
    row_bytes = _bits(dtype) * row_size // 8
    if row_bytes % 32:
        raise ValueError("rows of %d bytes are not whole units of 32" % row_bytes)
    units = int(swizzle_bytes or min(128, row_bytes)) // 16
    each = 128 // _bits(dtype)
    unit, inner = col_idx // each, col_idx % each
    turn = row_idx % 8 // (8 // units)
    return unit // units, row_idx, (unit % units ^ turn) * each + inner


from . import *  # noqa: F401,F403,E402
from . import __getattr__  # noqa: F401,E402
