"""T without what other makers' GPUs alone have."""

from ..language._dialect import make as _make, of_metal as _of_metal

_make(__name__, "metal", _of_metal)
