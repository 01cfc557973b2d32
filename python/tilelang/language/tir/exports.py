"""Which low-level names belong to one maker's hardware."""

from .._dialect import names, of_cuda, of_metal, of_rocm

_low = {n for n in names() if n.startswith(("ptx_", "mma_fill", "mma_store", "tvm_")) or "simdgroup" in n}
CUDA_ONLY_TIR_EXPORTS = frozenset(n for n in _low if of_cuda(n))
ROCM_ONLY_TIR_EXPORTS = frozenset(n for n in _low if of_rocm(n))
METAL_ONLY_TIR_EXPORTS = frozenset(n for n in _low if of_metal(n))
SHARED_LEGACY_TIR_EXPORTS = frozenset(n for n in _low if n.startswith("ptx_") and not of_cuda(n))
BACKEND_ONLY_TIR_EXPORTS = CUDA_ONLY_TIR_EXPORTS | ROCM_ONLY_TIR_EXPORTS | METAL_ONLY_TIR_EXPORTS
CLASSIFIED_VENDOR_TIR_EXPORTS = BACKEND_ONLY_TIR_EXPORTS | SHARED_LEGACY_TIR_EXPORTS
