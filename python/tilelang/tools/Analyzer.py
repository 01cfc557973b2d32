"""See tilelang.tools."""

from . import AnalysisResult, Analyzer  # noqa: F401
