"""Which lane and slot of a wave holds an element of an operand of v_mfma, and the inverse.

An operand of `rows` rows along m or n and any number of columns along k gives every lane neighbours
along k: _A has the rows first, _B the columns.  The names are those of the original."""


def _along_k(rows, each):
    """(row, k) -> (lane, slot), and the inverse."""
    def hold(i, j):
        return i + rows * (j // each), j % each

    def place(lane, slot):
        return lane % rows, lane // rows * each + slot

    return hold, place


def _turned(hold, place):
    def place_turned(lane, slot):
        row, k = place(lane, slot)
        return k, row

    return lambda i, j: hold(j, i), place_turned


def _define(a, b, lanes, rows, each):
    hold, place = _along_k(rows, each)
    hold_b, place_b = _turned(hold, place)
    names = globals()
    names["shared_%s_to_local_%s_layout_A" % (a, lanes)] = hold
    names["shared_%s_to_local_%s_layout_B" % (b, lanes)] = hold_b
    names["thread_id_shared_access_%s_to_%s_layout_A" % (lanes, a)] = place
    names["thread_id_shared_access_%s_to_%s_layout_B" % (lanes, b)] = place_b


_define("16x4", "4x16", "64x1", 16, 1)
_define("16x16", "16x16", "64x4", 16, 4)
_define("16x32", "16x32", "64x8", 16, 8)
_define("16x64", "16x64", "64x16", 16, 16)
_define("32x32", "32x32", "64x16", 32, 16)


# ---- results: columns, four rows together; of 32 by 32 every eighth row again

def thread_id_shared_access_64x4_to_16x16_layout_C_m_n(lane, slot):
    return lane // 16 * 4 + slot, lane % 16


def thread_id_shared_access_64x4_to_16x16_layout_C_n_m(lane, slot):
    return lane % 16, lane // 16 * 4 + slot


def thread_id_shared_access_64x16_to_32x32_layout_C_n_m(lane, slot):
    return lane % 32, lane // 32 * 4 + slot % 4 + slot // 4 * 8


# The original's has the same meaning under both names.
thread_id_shared_access_64x16_to_32x32_layout_C_m_n = thread_id_shared_access_64x16_to_32x32_layout_C_n_m


def shared_16x16_to_local_64x4_layout_C(i, j):
    return j + i // 4 * 16, i % 4


def shared_32x32_to_local_64x16_layout_C(i, j):
    return i + 32 * (j // 4 % 2), j // 8 * 4 + j % 4


shared_16x16_to_local_64x4_layout_m_n = globals()["shared_16x16_to_local_64x4_layout_A"]
shared_16x16_to_local_64x4_layout_n_k = globals()["shared_16x16_to_local_64x4_layout_A"]
shared_16x16_to_local_64x4_layout_n_m = globals()["shared_16x16_to_local_64x4_layout_B"]
shared_16x16_to_local_64x4_layout_k_n = globals()["shared_16x16_to_local_64x4_layout_B"]


def make_mfma_swizzle_layout(shared_buf, vecSize=8):
    """Units of vecSize elements of a row exchanged, rows that share a line of the banks alike."""
    from ... import language as T

    shape = [int(n) for n in shared_buf.shape]
    line = 32 * 32 // T.dtype(shared_buf.dtype).bits
    alike = max(1, line // shape[-1])
    turns = max(1, min(16 // alike, shape[-1] // vecSize))

    def place(row, col):
        return row, (col // vecSize ^ row // alike % turns) * vecSize + col % vecSize

    return T.Layout(shape, place)
