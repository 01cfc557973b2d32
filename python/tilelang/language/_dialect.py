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
    return _language._names() | set(_language.__all__)


def of_cuda(name):
    return name.startswith(_CUDA) or name in _CUDA_WORDS


def of_rocm(name):
    return name.startswith(_ROCM)


def of_metal(name):
    return name.startswith(_METAL)


def _hidden(name):
    return of_cuda(name) or of_rocm(name) or of_metal(name)


def make(module, dialect, own=None, alias={}):
    """Fill a module: its __getattr__, __dir__ and __all__.  own tells which names of one maker's are
    its own; alias gives others the same object."""

    def hidden(name):
        return _hidden(name) and not (own and own(name))

    def get(name):
        if name == "__all__":
            shown = {n for n in names() if not hidden(n)}
            return sorted(shown | {n for n in alias if alias[n] in shown})
        name = alias.get(name, name)
        if (name.startswith("__") and name.endswith("__")) or hidden(name):
            raise AttributeError("%s has nothing called %r" % (module, name))
        return getattr(_language, name)

    space = vars(sys.modules[module])
    space["__getattr__"] = get
    space["__dir__"] = lambda: get("__all__")
    space["__tilelang_dialect__"] = dialect


# Where the original keeps the names of NVIDIA GPUs.
_HOMES = {"pdl_": "pdl", "cluster_": "cluster", "block_rank_in_cluster": "cluster", "rng_": "random",
          "warpgroup_": "warpgroup", "WarpSpecialize": "warpgroup", "ptx_": "tir", "mma_": "tir"}


def home(name):
    """The module that a name belongs to."""
    if name == "ws":
        return "tilelang.cuda.language.warpgroup"
    if of_rocm(name):
        return "tilelang.rocm.language.tir"
    for begin, place in _HOMES.items():
        if name.startswith(begin):
            return "tilelang.cuda.language." + place
    return "tilelang.language"


def part(module, which):
    """Fill a module with some of T's names: those of a condition, or with one of the beginnings."""
    def has(name):
        return which(name) if callable(which) else name.startswith(which)

    def get(name):
        if name == "__all__":
            return sorted(n for n in names() if has(n))
        if name.startswith("__") or not has(name):
            raise AttributeError("%s has nothing called %r" % (module, name))
        return getattr(_parent(module), name)

    space = vars(sys.modules[module])
    space["__getattr__"] = get
    space["__dir__"] = lambda: get("__all__")


def _parent(module):
    return sys.modules[module.rsplit(".", 1)[0]]
