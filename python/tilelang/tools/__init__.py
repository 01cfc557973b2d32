"""Pictures of layouts, and what a kernel needs at least."""

from .._refused import names_of
from .plot_layout import plot_fragment_tv, plot_layout  # noqa: F401


def _device():
    from ..carver.arch import CUDA

    return CUDA("cuda")


class AnalysisResult:
    """total_flops, total_global_bytes, estimated_time in seconds, and the peaks it was made of."""

    def __init__(self, flops, size, arch):
        self.total_flops, self.total_global_bytes = flops, size
        arch = arch or _device()
        self.expected_tflops = arch.peak_tflops
        self.expected_bandwidth_GBps = float(arch.bandwidth[0])
        self.estimated_time = max(flops / (self.expected_tflops * 1e12),
                                  size / (self.expected_bandwidth_GBps * 1e9))
        self.tflops = flops / self.estimated_time / 1e12 if self.estimated_time else 0.0
        self.bandwidth_GBps = size / self.estimated_time / 1e9 if self.estimated_time else 0.0

    def __repr__(self):
        return str(self.__dict__)


class Analyzer:
    """Operations and bytes of a kernel with fixed shapes, and the time they need at peak."""

    @classmethod
    def analysis(cls, fn, device=None):
        import math

        from .. import _core
        from ..jit import compile

        kernel = compile(fn, target="cpu")
        none = [p for p in kernel.params if None in p.shape or p.is_scalar()]
        if none:
            raise ValueError("%r is known only at run time" % none[0].name)
        size = sum(_core.dtype_bytes(str(p.dtype), math.prod(p.shape)) for p in kernel.params)
        return AnalysisResult(kernel._core.flops_of_shapes(), size, device)


__getattr__ = names_of(__name__, lower_trace="")
