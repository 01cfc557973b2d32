"""Layouts of matrix instructions, by the names of the original."""

from .._refused import names_of
from ..layout import *  # noqa: F401,F403
from ..layout import make_mma_swizzle_layout  # noqa: F401

__getattr__ = names_of(__name__, TensorCoreIntrinEmitter="mma_macro_generator",
                       WGMMATensorCoreIntrinEmitter="wgmma_macro_generator", get_swizzle_layout="mma_layout",
                       get_mma_micro_size="mma_layout", mma_store_index_map="mma_layout")
