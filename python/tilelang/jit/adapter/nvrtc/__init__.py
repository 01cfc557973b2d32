"""NVRTC compiles what is emitted for CUDA."""

from .... import language as T

_found = None


def is_nvrtc_available():
    """Whether a kernel for CUDA can be compiled here; tried once."""
    global _found
    if _found is None:
        from ... import compile as build

        @T.prim_func
        def probe(A: T.Tensor((1,), "int32")):
            with T.Kernel(1, threads=32):
                A[0] = 1

        try:
            build(probe, target="cuda -arch=sm_80")
            _found = True
        except RuntimeError:
            _found = False
    return _found
