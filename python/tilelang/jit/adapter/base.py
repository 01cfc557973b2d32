"""Texts that are read when they are asked for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CachedTextSource:
    """Text in a file."""

    path: str

    def read(self):
        with open(self.path) as f:
            return f.read()


class BaseKernelAdapter:
    """Where the original turns out_idx into a list of indices; nothing here makes one."""

    def __init__(self, mod=None, params=(), result_idx=None):
        self.mod = mod
        self.params = list(params)
        self.result_idx = self._legalize_result_idx(result_idx)

    def _legalize_result_idx(self, result_idx):
        n = len(self.params)
        found = [] if result_idx is None else [result_idx] if isinstance(result_idx, int) else result_idx
        for i in found:
            if not -n <= i < n:
                raise ValueError("there is no parameter %d of %d" % (i, n))
        return [i % n for i in found]
