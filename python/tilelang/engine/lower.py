"""See tilelang.engine."""

from . import CompiledArtifact, extrac_params, lower  # noqa: F401
