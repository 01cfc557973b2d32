"""Random numbers."""

from ...language._dialect import part as _part

_part(__name__, ("rng_",))
