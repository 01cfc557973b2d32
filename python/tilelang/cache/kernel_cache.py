"""Kernels on disk as folders that can be looked into: text, parameters, code.

tilelang.cached uses it.  What tilelang.compile and tilelang.jit make is kept by the library itself,
by its content; a kernel found here takes its code from there."""

import hashlib
import json
import logging
import os
import pickle
import shutil
import threading

from .. import _core, __version__
from .._target import determine_target
from ..env import env
from ..jit import keeping_ir
from ..jit.adapter.base import CachedTextSource
from ..jit.diagnostics import enabled as _diagnosing, jit_phase
from ..jit.kernel import JITKernel

_RECIPE = 2  # what recipe.json holds: entries of builds with another are left alone


def _root():
    if env.TILELANG_CACHE_DIR:
        return str(env.TILELANG_CACHE_DIR)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "tilelang-c")


def _read_pickle(path):
    try:
        with open(path, "rb") as f:
            return pickle.load(f)
    except (OSError, EOFError, pickle.UnpicklingError):
        return None


class KernelCache:
    """Folders of kernels, one by key; entries appear whole or not at all."""

    device_kernel_path = "device_kernel.cu"
    host_kernel_path = "host_kernel.cu"
    kernel_lib_path = "kernel_lib.so"
    params_path = "params.pkl"
    code_paths = (kernel_lib_path,)  # more files of the same name that the code consists of
    logger = logging.getLogger("tilelang.cache")

    def __init__(self):
        self._memory_cache = {}
        self._lock = threading.Lock()

    # ---- where

    def _get_cache_path(self, key):
        return os.path.join(_root(), "cached", key)

    def _get_staging_root(self):
        return os.path.join(_root(), ".staging")

    def _complete(self, path):
        names = (self.device_kernel_path, self.host_kernel_path, self.params_path)
        return all(os.path.exists(os.path.join(path, n)) for n in names + tuple(self.code_paths))

    # ---- writing

    @staticmethod
    def _get_source_compile_args():
        """Options of export_library where the host part of a kernel is C text."""
        return {}

    @staticmethod
    def _get_export_link_args():
        """The same where it is an object that is only linked."""
        return {}

    @staticmethod
    def _safe_write_executable(executable, path, export_kwargs=None):
        """Beside its place first: nobody loads half a library."""
        temp = "%s.%d.%d.so" % (path, os.getpid(), threading.get_ident())
        executable.export_library(temp, **(export_kwargs or {}))
        os.replace(temp, path)

    def _save_so_cubin_to_disk(self, kernel, path, verbose=False):
        """The code: a file that there is already, or a library made now."""
        code = getattr(kernel.adapter, "libpath", None)
        if code is None:
            executable = kernel.adapter.get_exportable_executable()
            self._safe_write_executable(executable, os.path.join(path, self.kernel_lib_path),
                                        {"levels": "x86-64-v3"})
            return
        for name in self.code_paths:
            shutil.copyfile(os.path.splitext(code)[0] + os.path.splitext(name)[1],
                            os.path.join(path, name))

    def _write(self, path, kernel, verbose):
        if kernel.kernel_source is None:
            raise ValueError("the kernel has no source text")
        host = getattr(kernel.adapter, "get_host_source", kernel.adapter.get_kernel_source)
        with open(os.path.join(path, self.device_kernel_path), "w") as f:
            f.write(kernel.kernel_source)
        with open(os.path.join(path, self.host_kernel_path), "w") as f:
            f.write(host() or "")
        with open(os.path.join(path, self.params_path), "wb") as f:
            pickle.dump(kernel.params, f)
        recipe = getattr(kernel, "_recipe", None)
        if recipe is not None:
            with open(os.path.join(path, "recipe.json"), "w") as f:
                json.dump(recipe, f)
        self._save_so_cubin_to_disk(kernel, path)

    def _save_kernel_to_disk(self, key, kernel, func=None, verbose=False):
        """A failure is logged; what is whole already stays, what is not is replaced."""
        path = self._get_cache_path(key)
        stage = os.path.join(self._get_staging_root(),
                             "%s.%d.%d" % (key, os.getpid(), threading.get_ident()))
        try:
            os.makedirs(stage)
            self._write(stage, kernel, verbose)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if os.path.exists(path) and not self._complete(path):
                os.rename(path, stage + ".old")
            if not os.path.exists(path):
                os.rename(stage, path)
        except Exception:
            if not self._complete(path):  # else another process was first
                self.logger.exception("Error during atomic cache save")
        finally:
            for left in (stage, stage + ".old"):
                shutil.rmtree(left, ignore_errors=True)

    # ---- reading

    def _load_kernel_from_disk(self, key, backend_context=None, out_idx=None, pass_configs=None,
                               compile_flags=None, func=None, verbose=False):
        """The kernel, its texts read when they are asked for; None where there is none."""
        path = self._get_cache_path(key)
        if not self._complete(path):
            return None
        params = _read_pickle(os.path.join(path, self.params_path))
        if params is None:
            return None

        def text(name):
            return CachedTextSource(path=os.path.join(path, name))

        return JITKernel.from_database(
            func=func, params=params, backend_context=backend_context, out_idx=out_idx,
            pass_configs=pass_configs, compile_flags=compile_flags,
            host_kernel_source=text(self.host_kernel_path),
            device_kernel_source=text(self.device_kernel_path),
            kernel_lib_path=os.path.join(path, self.kernel_lib_path))

    def _load_kernel_source(self, key):
        """The texts of an entry: of the device, and of the host."""
        path = self._get_cache_path(key)
        return tuple(CachedTextSource(os.path.join(path, n)).read()
                     for n in (self.device_kernel_path, self.host_kernel_path))

    # ---- both

    def _generate_key(self, func, *parts):
        said = (_RECIPE, __version__, _core.__file__, func.script(show_meta=True)) + parts
        return hashlib.sha256("\n".join(map(repr, said)).encode()).hexdigest()

    def cached(self, func, out_idx=None, target=None, target_host=None, execution_backend=None,
               verbose=None, pass_configs=None, compile_flags=None):
        """The kernel of a @T.prim_func: from memory, from disk, or compiled now and kept."""
        from ..backend import create_backend_context

        text = determine_target(target)
        key = self._generate_key(func, text, out_idx, pass_configs, compile_flags)
        kernel = self._memory_cache.get(key)
        if kernel is None and env.is_cache_enabled():
            kernel = self._load_kernel_from_disk(
                key, create_backend_context(target, execution_backend), out_idx, pass_configs,
                compile_flags, func)
        if kernel is None:
            name = func.attrs.get("global_symbol", getattr(func, "__name__", "kernel"))
            with jit_phase("cache.compile", enabled=_diagnosing(), kernel=name, target=text), \
                    keeping_ir():
                kernel = JITKernel(func, out_idx=out_idx, target=target, target_host=target_host,
                                   execution_backend=execution_backend, verbose=verbose,
                                   pass_configs=pass_configs, compile_flags=compile_flags)
            if env.is_cache_enabled() and not text.startswith("sim"):
                self._save_kernel_to_disk(key, kernel, func)
        with self._lock:
            return self._memory_cache.setdefault(key, kernel)

    def clear_cache(self):
        self._memory_cache.clear()
        shutil.rmtree(os.path.join(_root(), "cached"), ignore_errors=True)
        return _core.cache_clear()
