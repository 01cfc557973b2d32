"""See tilelang.engine."""

from . import CompiledArtifact, lower  # noqa: F401
