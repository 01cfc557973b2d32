"""Compute versions; nothing here runs nvcc."""

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
