"""See tilelang.intrinsics.mma_macro_generator."""

from ....intrinsics.mma_macro_generator import TensorCoreIntrinEmitter, __getattr__  # noqa: F401
