"""See tilelang.cuda.intrinsics.macro.wgmma_macro_generator."""

from ..cuda.intrinsics.macro.wgmma_macro_generator import (  # noqa: F401
    TensorCoreIntrinEmitter, WGMMATensorCoreIntrinEmitter, select_wgmma_inst_n)
