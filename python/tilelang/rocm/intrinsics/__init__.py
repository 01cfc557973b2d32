"""Products of waves by hand: layouts of v_mfma, and what emits single ones."""

from .mfma_layout import make_mfma_swizzle_layout  # noqa: F401
from .mfma_macro_generator import MatrixCoreIntrinEmitter, MatrixCorePreshuffleIntrinEmitter  # noqa: F401
from .utils import get_mma_micro_size, mfma_store_index_map, mfma_store_index_map_32x32  # noqa: F401
