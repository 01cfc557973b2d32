"""See mfma_layout."""

from .mfma_layout import (  # noqa: F401
    make_mfma_swizzle_layout, thread_id_shared_access_64x4_to_16x16_layout_C_n_m as mfma_store_index_map,
    thread_id_shared_access_64x16_to_32x32_layout_C_m_n as mfma_store_index_map_32x32)


def get_mma_micro_size(dtype):
    """Rows, columns and k of one instruction."""
    from ... import language as T

    return 16, 16, 32 if T.dtype(dtype).bits == 8 else 16
