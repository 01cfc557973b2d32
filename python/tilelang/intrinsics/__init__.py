"""Layouts of matrix instructions, by the names of the original."""

import importlib

from ..layout import *  # noqa: F401,F403
from ..layout import make_mma_swizzle_layout  # noqa: F401


_MODULES = ("layout", "macro", "mfma_layout", "mma_layout", "mma_macro_generator", "utils",
            "wgmma_macro_generator")


def __getattr__(name):
    if name.startswith("__") or name in _MODULES:
        raise AttributeError(name)
    if name == "TensorCoreIntrinEmitter":
        return getattr(importlib.import_module(__name__ + ".mma_macro_generator"), name)
    if name in ("get_swizzle_layout", "get_mma_micro_size", "mma_store_index_map"):
        return getattr(importlib.import_module(__name__ + ".mma_layout"), name)

    def refuse(*args, **keys):
        raise NotImplementedError("tilelang.intrinsics.%s is not supported; T.gemm chooses the "
                                  "instructions by itself" % name)

    refuse.__name__ = name
    return refuse
