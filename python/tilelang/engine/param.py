"""Where the original keeps what describes parameters and results of lowering."""

from ..language import KernelParam  # noqa: F401
from . import CompiledArtifact  # noqa: F401
