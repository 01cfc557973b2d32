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


def _both(rows, each):
    """Of A, the inverse, of B, the inverse."""
    hold, place = _along_k(rows, each)
    return (hold, place) + _turned(hold, place)


(shared_16x4_to_local_64x1_layout_A, thread_id_shared_access_64x1_to_16x4_layout_A,
 shared_4x16_to_local_64x1_layout_B, thread_id_shared_access_64x1_to_4x16_layout_B) = _both(16, 1)
(shared_16x16_to_local_64x4_layout_A, thread_id_shared_access_64x4_to_16x16_layout_A,
 shared_16x16_to_local_64x4_layout_B, thread_id_shared_access_64x4_to_16x16_layout_B) = _both(16, 4)
(shared_16x32_to_local_64x8_layout_A, thread_id_shared_access_64x8_to_16x32_layout_A,
 shared_16x32_to_local_64x8_layout_B, thread_id_shared_access_64x8_to_16x32_layout_B) = _both(16, 8)
(shared_16x64_to_local_64x16_layout_A, thread_id_shared_access_64x16_to_16x64_layout_A,
 shared_16x64_to_local_64x16_layout_B, thread_id_shared_access_64x16_to_16x64_layout_B) = _both(16, 16)
(shared_32x32_to_local_64x16_layout_A, thread_id_shared_access_64x16_to_32x32_layout_A,
 shared_32x32_to_local_64x16_layout_B, thread_id_shared_access_64x16_to_32x32_layout_B) = _both(32, 16)


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


shared_16x16_to_local_64x4_layout_m_n = shared_16x16_to_local_64x4_layout_A
shared_16x16_to_local_64x4_layout_n_k = shared_16x16_to_local_64x4_layout_A
shared_16x16_to_local_64x4_layout_n_m = shared_16x16_to_local_64x4_layout_B
shared_16x16_to_local_64x4_layout_k_n = shared_16x16_to_local_64x4_layout_B


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
