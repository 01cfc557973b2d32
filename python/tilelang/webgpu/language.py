"""T without what NVIDIA GPUs alone have."""

from ..language._dialect import make as _make

_make(__name__, "webgpu")
