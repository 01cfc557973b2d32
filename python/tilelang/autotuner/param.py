"""What a search is told and what it finds."""

from dataclasses import asdict, dataclass
from typing import Any, Callable, Optional

from .._log import logger  # noqa: F401
from ..utils.tensor import TensorSupplyType


@dataclass(frozen=True)
class CompileArgs:
    """How configurations are compiled."""

    out_idx: Any = None
    execution_backend: Optional[str] = None
    target: Any = None
    target_host: Any = None
    verbose: Optional[bool] = None
    pass_configs: Optional[dict] = None


@dataclass(frozen=True)
class ProfileArgs:
    """How they are checked and timed."""

    warmup: int = 25
    rep: int = 100
    timeout: float = 30
    supply_type: TensorSupplyType = TensorSupplyType.Auto
    ref_prog: Optional[Callable] = None
    supply_prog: Optional[Callable] = None
    rtol: float = 1e-2
    atol: float = 1e-2
    max_mismatched_ratio: float = 0.01
    skip_check: bool = False
    manual_check_prog: Optional[Callable] = None
    cache_input_tensors: bool = False
    backend: str = "event"
    early_stop: bool = False
    early_stop_factor: float = 2.0

    def has_callbacks(self):
        """What a Python function decides cannot be known from its text: nothing is kept."""
        return any((self.ref_prog, self.supply_prog, self.manual_check_prog))

    def identity(self):
        plain = asdict(self)
        for name in ("ref_prog", "supply_prog", "manual_check_prog", "timeout"):
            plain.pop(name)
        plain["supply_type"] = self.supply_type.name
        return plain


class AutotuneResult:
    """The best configuration: latency in milliseconds, config, kernel."""

    def __init__(self, latency=None, config=None, ref_latency=None, libcode=None, func=None,
                 kernel=None):
        self.latency, self.config, self.ref_latency = latency, config, ref_latency
        self.libcode, self.func, self.kernel = libcode, func, kernel

    def __repr__(self):
        return "AutotuneResult(latency=%s, config=%s)" % (self.latency, self.config)
