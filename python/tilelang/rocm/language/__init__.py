"""T without what NVIDIA GPUs alone have, and with the names of matrix cores, which no target here has."""

from ...language._dialect import make as _make, of_rocm as _of_rocm
from . import tir  # noqa: F401

_ALIAS = {"mfma": "tvm_mfma", "mfma_store": "tvm_mfma_store", "rdna_wmma": "tvm_rdna_wmma",
          "rdna_wmma_store": "tvm_rdna_wmma_store"}

_make(__name__, "rocm", _of_rocm, _ALIAS)
