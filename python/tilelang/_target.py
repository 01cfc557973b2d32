"""Targets as the package spells them.

    auto                 the GPU of this machine, else the CPU
    cpu, c, llvm         emitted C on this CPU; options such as -mcpu= are passed on
    cuda [-arch=sm_90a]  CUDA C through NVRTC
    sim [-arch=sm_90a]   the kernel lowered for that GPU, run by the simulator on the CPU"""

import contextlib
import functools
import os
import threading

from . import _core

_current = []
_local = threading.local()


@contextlib.contextmanager
def building(text):
    """What kernels are made for while a factory runs."""
    before, _local.kind = kind_now(), told(text)
    try:
        yield
    finally:
        _local.kind = before


def kind_now():
    """The target in the compiler's words, or None where nobody has said."""
    return getattr(_local, "kind", None)


class Target(str):
    """A target as a str with the fields of the original's objects; `with Target(…)` sets the
    default.  code: the architectures to compile for, where several were named."""

    code = None

    def __new__(cls, target="", host=None):
        if host is not None:
            from ._errors import ignored

            ignored("target_host", "the part of a kernel that runs on the host is built for this "
                    "machine")
        made = super().__new__(cls, _text(target))
        if isinstance(target, dict):
            made.code = target.get("code")
        return made

    @property
    def kind(self):
        word = self.split()[0] if self.split() else "cpu"

        class _Kind(str):
            name = word

        return _Kind(word)

    @property
    def arch(self):
        """As it was said: what -arch= is not said of is the device at hand."""
        said = [word for word in self.split() if word.startswith("-arch=")]
        return said[-1][6:] if said else ""

    @property
    def attrs(self):
        return {"arch": self.arch}

    def __enter__(self):
        _current.append(self)
        return self

    def __exit__(self, *why):
        _current.pop()

    @staticmethod
    def current(allow_none=True):
        if _current:
            return _current[-1]
        return None if allow_none else Target(determine_target("auto"))


def _text(target):
    """A dict is a target by its fields: {"kind": "cuda", "arch": "sm_90a"}."""
    if not isinstance(target, dict):
        return str(target)
    words = [str(target.get("kind", "cuda"))]
    for key, value in target.items():
        if key in ("kind", "code", "tag") or value is None:
            continue
        value = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value
        words.append("-%s=%s" % (key, value))
    return " ".join(words)


def has_gpu():
    """Whether a GPU of this machine can be used."""
    try:
        return _core.device_target() is not None
    except RuntimeError:
        return False


def device_arch():
    """The architecture of this machine's GPU, or None."""
    target = _core.device_target()
    return target and _core.target(target)["arch"]


@functools.lru_cache(64)
def _read(text):
    """(as it is said, as it is told to the compiler)"""
    found = _core.target(text)
    return found["said"], found["told"]


def determine_target(target="auto", return_object=False):
    """The target in the compiler's words."""
    if target is None:
        target = os.environ.get("TILELANG_DEFAULT_TARGET") or "auto"
    text = _text(target).strip()
    if text.startswith("{"):
        import json

        text = _text(json.loads(text))
    if text == "auto":
        here = _core.device_target() or "cpu"
        text = str(_current[-1]) if _current else here.split()[0]
    word, blank, rest = text.partition(" ")
    text = _read(word.lower() + blank + rest)[0]
    if not return_object:
        return text
    made = Target(text)
    made.code = target.get("code") if isinstance(target, dict) else getattr(target, "code", None)
    return made


def told(text):
    """determine_target's answer with the name of what it is lowered for: "cuda …" for "sim …"."""
    return _read(text)[1]
