"""Compute versions; nothing here runs nvcc."""

import os
import re

from ..utils.target import determine_target, target_get_compute_version as _version


def get_target_compute_version(target=None):
    """"9.0" for sm_90."""
    if target is None:
        target = determine_target(None)
        target = target if target.startswith(("cuda", "sim")) else "cuda"
    v = _version(target)
    return "%d.%d" % (v // 10, v % 10)


def parse_compute_version(text):
    major, _, minor = str(text).partition(".")
    return int(major), int(minor or 0)


def get_target_code_list(code):
    """Architectures as `code` of a target names them: None, or a list such as ["sm_90a"]."""
    if code is None:
        return []
    good = isinstance(code, (list, tuple)) and len(code) > 0
    if not good or not all(isinstance(c, str) and re.fullmatch(r"sm_\d+[a-z]?", c) for c in code):
        raise ValueError("CUDA target code must be a list of architectures such as sm_90a, not %r"
                         % (code,))
    return list(code)


def _get_compile_timeout_seconds():
    """TILELANG_COMPILE_TIMEOUT_SECONDS: None where it is not set or 0."""
    text = os.environ.get("TILELANG_COMPILE_TIMEOUT_SECONDS", "").strip()
    try:
        seconds = float(text or 0)
    except ValueError:
        seconds = float("nan")
    if not 0 <= seconds < float("inf"):
        raise ValueError("TILELANG_COMPILE_TIMEOUT_SECONDS must be a number of seconds, not %r" % text)
    return seconds or None


def get_cuda_version(path=None):
    return (12, 8)


def have_tma(target=None):
    return _version(target or "cuda") >= 90


def is_hopper(target=None):
    return 90 <= _version(target or "cuda") < 100


def have_fp8(version):
    return parse_compute_version(version) >= (8, 9)


def compile_cuda(*args, **keys):
    raise NotImplementedError("tilelang.contrib.nvcc.compile_cuda is not supported; kernels are "
                              "compiled by NVRTC")
