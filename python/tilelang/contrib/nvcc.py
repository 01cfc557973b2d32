"""Compute versions, and CUDA text through nvcc where it is installed.  Kernels need none of it:
NVRTC compiles them."""

import os
import re
import shutil
import subprocess
import tempfile
import warnings

from .._target import Target
from ..env import env
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
    """(major, minor): that of the toolkit in a folder where one is named."""
    if path is None:
        return (12, 8)
    import json

    with open(os.path.join(path, "version.json")) as f:
        words = json.load(f)["cuda"]["version"].split(".")
    return int(words[0]), int(words[1])


def have_tma(target=None):
    return _version(target or "cuda") >= 90


def is_hopper(target=None):
    return 90 <= _version(target or "cuda") < 100


def have_fp8(version):
    return parse_compute_version(version) >= (8, 9)


def get_target_arch(compute_version):
    """"90a" for "9.0": the architecture with all of its instructions."""
    major, minor = parse_compute_version(compute_version)
    return "%d%d%s" % (major, minor, "a" if major >= 9 else "")


def get_nvcc_compiler():
    """The path of nvcc: of CUDA_HOME, of PATH, of the usual place."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    found = [os.path.join(h, "bin", "nvcc") for h in homes if h]
    found = [p for p in found if os.access(p, os.X_OK)] or [shutil.which("nvcc")]
    if not found[0]:
        raise RuntimeError("nvcc was not found: set CUDA_HOME or PATH")
    return found[0]


def get_nvcc_subprocess_env():
    """None: nvcc runs in this process's environment."""


def _gencode(target):
    """Flags for the architectures a target names by `code`, or []."""
    codes = get_target_code_list(getattr(target, "code", None))
    if not codes:
        return []
    arch = target.arch.replace("sm_", "compute_", 1)
    names = codes[0] if len(codes) == 1 else "[%s]" % ",".join(codes)
    return ["-gencode", "arch=%s,code=%s" % (arch, names)]


def _architectures(arch, target):
    if isinstance(arch, (list, tuple)):
        return list(arch)
    if arch is not None:
        return ["-arch=" + arch]
    return _gencode(target) or \
        ["-arch=sm_" + get_target_arch(get_target_compute_version(target))]


def _run_nvcc(command, seconds, source):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env=get_nvcc_subprocess_env())
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
        why = "NVCC compilation timed out after %g seconds" % seconds
    else:
        if process.returncode == 0:
            return
        why = "NVCC compilation failed with status %d" % process.returncode
    raise RuntimeError("%s\nCommand: %s\nSource: %s\nTarget: %s\n%s" % (
        why, " ".join(command), source, Target.current() or "auto",
        (said or b"").decode(errors="replace")))


def compile_cuda(code, target_format="ptx", arch=None, options=None, path_target=None,
                 verbose=False):
    """PTX, a cubin or a fatbin of CUDA text, as a bytearray; also written to path_target.
    TILELANG_COMPILE_TIMEOUT_SECONDS limits it; TILELANG_CLEANUP_TEMP_FILES=0 keeps its files."""
    if target_format not in ("ptx", "cubin", "fatbin"):
        raise ValueError("target_format is ptx, cubin or fatbin, not %r" % (target_format,))
    places = _architectures(arch, Target.current())
    if target_format != "fatbin" and any("code=[" in p for p in places):
        warnings.warn("%s holds one architecture: using '--fatbin' instead" % target_format,
                      RuntimeWarning, 2)
        target_format = "fatbin"
    folder = tempfile.mkdtemp(prefix="tilelang-nvcc-", dir=env.TILELANG_TMP_DIR or None)
    try:
        source = os.path.join(folder, "kernel.cu")
        made = path_target or os.path.join(folder, "kernel." + target_format)
        with open(source, "w") as f:
            f.write(code)
        more = [options] if isinstance(options, str) else list(options or ())
        command = [get_nvcc_compiler(), "--" + target_format, "-O3", *places, *more, "-o", made,
                   source]
        if verbose:
            print(" ".join(command))
        _run_nvcc(command, _get_compile_timeout_seconds(), source)
        with open(made, "rb") as f:
            return bytearray(f.read())
    finally:
        if str(env.TILELANG_CLEANUP_TEMP_FILES) not in ("0", ""):
            shutil.rmtree(folder, ignore_errors=True)
