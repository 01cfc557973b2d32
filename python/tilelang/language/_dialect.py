"""T without what one maker's hardware alone has: tilelang.language.common and the languages of targets
other than CUDA.  The names are those of T; those left out raise as unknown ones do."""

import sys

from .. import _core
from .. import language as _language

# Whole features of NVIDIA GPUs, by the beginning of their names, and words of their own.
_CUDA = ("tma_", "tcgen05", "wgmma", "ptx_wgmma", "ptx_tcgen05", "ptx_mma", "pdl_", "cluster_", "clc_",
         "rng_", "CUDASource", "alloc_wgmma", "alloc_tcgen05", "alloc_tmem", "deallocate_tmem", "ClusterKernel",
         "alloc_cluster", "warpgroup_", "copy_cluster", "block_rank_in_cluster")
_CUDA_WORDS = {"ws", "WarpSpecialize", "mma_fill", "mma_store", "ptx_ldmatrix", "ptx_cp_async_bulk",
               "ptx_fence_barrier_init", "ptx_wait_barrier"}
_ROCM = ("tvm_mfma", "tvm_rdna", "mfma", "rdna_", "ds_read_tr", "MatrixCore", "WMMA")
_METAL = ("simdgroup_", "make_filled_simdgroup")


def names():
    return {r[0] for r in _core.rows() if "." not in r[0]} | set(_language.__all__)


def of_cuda(name):
    return name.startswith(_CUDA) or name in _CUDA_WORDS


def of_rocm(name):
    return name.startswith(_ROCM)


def of_metal(name):
    return name.startswith(_METAL)


def _hidden(name):
    return of_cuda(name) or of_rocm(name) or of_metal(name)


def make(module, dialect):
    """Fill a module: its __getattr__, __dir__ and __all__."""
    def get(name):
        if name == "__all__":
            return sorted(n for n in names() if not _hidden(n))
        if (name.startswith("__") and name.endswith("__")) or _hidden(name):
            raise AttributeError("%s has nothing called %r" % (module, name))
        return getattr(_language, name)

    space = vars(sys.modules[module])
    space["__getattr__"] = get
    space["__dir__"] = lambda: get("__all__")
    space["__tilelang_dialect__"] = dialect
