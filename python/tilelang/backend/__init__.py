"""tilelang.backend"""

from dataclasses import dataclass
from typing import Any, Optional

from .._target import determine_target


@dataclass(frozen=True)
class BackendContext:
    """What a kernel is compiled for and how it is called."""

    target: Any
    execution_backend: str = "tvm_ffi"
    target_host: Optional[Any] = None


def create_backend_context(target=None, execution_backend=None, target_host=None):
    from ..jit import _backend, _host

    _host(target_host)
    return BackendContext(determine_target(target, return_object=True), _backend(execution_backend),
                          target_host)
