"""Where the headers of CUDA are, for source text of users that includes some."""

import os
import platform
import sys

_MACHINES = {"x86_64": "x86_64-linux", "amd64": "x86_64-linux", "aarch64": "sbsa-linux",
             "arm64": "sbsa-linux"}


def discover_cuda_include_paths(cuda_home, machine=None, system=None):
    """Folders of headers below a CUDA installation, flat or by machine; those that are there, and where
    none is, those that should be."""
    machine = (machine or platform.machine()).lower()
    system = system or sys.platform

    def pair(*parts):
        root = os.path.join(cuda_home, *parts)
        return [root, os.path.join(root, "cccl")]

    flat = pair("include")
    if not system.startswith("linux"):
        return flat
    own = pair("targets", _MACHINES.get(machine, machine + "-linux"), "include")
    there = [p for p in flat + own if os.path.isdir(p)]
    return there or flat[:1] + own


def cuda_homes():
    """Installations of CUDA, the one that was named first."""
    named = [os.environ.get(n) for n in ("CUDA_HOME", "CUDA_PATH")]
    found = [p for p in named + ["/usr/local/cuda"] if p and os.path.isdir(p)]
    for root in sys.path:
        base = os.path.join(root, "nvidia")
        if os.path.isdir(base):
            found += [p for p in (os.path.join(base, n) for n in sorted(os.listdir(base)))
                      if os.path.isdir(os.path.join(p, "include"))]
    return found


def include_flags():
    """-I for each folder that is there."""
    folders = []
    for home in cuda_homes():
        folders += [p for p in discover_cuda_include_paths(home) if os.path.isdir(p)]
    return ["-I" + p for p in dict.fromkeys(folders)]
