"""What a search is told and what it finds."""

import json
import os
import pickle
import shutil
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Callable, Optional

from .._log import logger
from ..utils.tensor import TensorSupplyType

BEST_CONFIG_PATH = "best_config.json"
FUNCTION_PATH = "function.pkl"
LATENCY_PATH = "latency.json"
DEVICE_KERNEL_PATH = "device_kernel.cu"
HOST_KERNEL_PATH = "host_kernel.cu"
KERNEL_LIB_PATH = "kernel_lib.so"
KERNEL_CUBIN_PATH = "kernel.cubin"
KERNEL_PY_PATH = "kernel.py"
PARAMS_PATH = "params.pkl"

_ALWAYS = [BEST_CONFIG_PATH, FUNCTION_PATH, LATENCY_PATH, DEVICE_KERNEL_PATH, HOST_KERNEL_PATH,
           PARAMS_PATH]
_CODE = {None: [KERNEL_LIB_PATH], "nvrtc": [KERNEL_CUBIN_PATH, KERNEL_PY_PATH],
         "cutedsl": [KERNEL_PY_PATH, KERNEL_CUBIN_PATH]}


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

    # ---- on disk

    def _save_kernel_to_disk(self, cache_path, kernel, verbose=False):
        """Its text, its parameters, and its code in the form it has."""
        cache_path, adapter = Path(cache_path), kernel.adapter
        if kernel.kernel_source is None:
            raise ValueError("the kernel has no source text")
        (cache_path / DEVICE_KERNEL_PATH).write_text(kernel.kernel_source)
        (cache_path / HOST_KERNEL_PATH).write_text(adapter.get_host_source() or "")
        (cache_path / PARAMS_PATH).write_bytes(pickle.dumps(kernel.params))
        made = getattr(kernel, "_save_code", None)
        if made is not None:
            made(cache_path)
            return
        code = Path(adapter.libpath)
        for name in _CODE.get(kernel.execution_backend, _CODE[None]):
            shutil.copyfile(code.with_suffix(Path(name).suffix), cache_path / name)

    def _write(self, stage, verbose):
        (stage / BEST_CONFIG_PATH).write_text(json.dumps(self.config))
        (stage / LATENCY_PATH).write_text(
            json.dumps({"latency": self.latency, "ref_latency": self.ref_latency}))
        (stage / FUNCTION_PATH).write_bytes(pickle.dumps(_portable(self.func)))
        self._save_kernel_to_disk(stage, self.kernel, verbose)

    def _complete(self, path):
        backend = getattr(self.kernel, "execution_backend", None)
        names = _ALWAYS if hasattr(self.kernel, "_save_code") else \
            _ALWAYS + _CODE.get(backend, _CODE[None])
        return all((path / n).exists() for n in names)

    def save_to_disk(self, path, verbose=False):
        """Write a folder beside its place and move it there: nobody sees half a result.  What is
        there already and whole stays; what is not whole is replaced.  A failure is logged."""
        path = Path(path)
        waiting = path.parent.parent / ".staging"
        stage = waiting / ("%s.%d.%d" % (path.name, os.getpid(), threading.get_ident()))
        try:
            stage.mkdir(parents=True)
            self._write(stage, verbose)
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and not self._complete(path):
                os.rename(path, str(stage) + ".old")
            if not path.exists():
                os.rename(stage, path)
        except Exception:
            if not self._complete(path):  # else another process was first
                logger.exception("Error during atomic autotune result save")
        finally:
            for left in (stage, Path(str(stage) + ".old")):
                shutil.rmtree(left, ignore_errors=True)

    @staticmethod
    def read(path):
        """{config, latency, ref_latency} of a saved result, or None."""
        try:
            config = json.loads((Path(path) / BEST_CONFIG_PATH).read_text())
            return {"config": config, **json.loads((Path(path) / LATENCY_PATH).read_text())}
        except (OSError, ValueError):
            return None

    @classmethod
    def load_from_disk(cls, path, build):
        """A saved result, its kernel made by build(config); None where there is none."""
        known = cls.read(path)
        if known is None:
            return None
        kernel = build(known["config"])
        kernel.update_tuner_result(known["latency"], known["config"], known["ref_latency"])
        return cls(known["latency"], known["config"], known["ref_latency"], kernel.kernel_source,
                   kernel.prim_func, kernel)


def _portable(func):
    """What of a function can be written: a traced one as its IR, others by their name."""
    script = getattr(func, "script", None)
    return {"name": func.__name__, "ir": script()} if script is not None else func
