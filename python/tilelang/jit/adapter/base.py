"""Texts that are read when they are asked for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CachedTextSource:
    """Text in a file."""

    path: str

    def read(self):
        with open(self.path) as f:
            return f.read()
