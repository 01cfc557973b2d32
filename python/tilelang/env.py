"""Environment variables, read when asked for; tilelang.env.env.NAME = value overrides one."""

import os

_DEFAULTS = {
    "TILELANG_CACHE_DIR": "",
    "TILELANG_TMP_DIR": "",
    "TILELANG_SHARED_CACHE": "",
    "TILELANG_TUNE_LIBRARY": "",
    "TILELANG_BACKGROUND_THREADS": "",
    "TILELANG_DISABLE_CACHE": "0",
    "TILELANG_PRINT_ON_COMPILATION": "0",
    "TILELANG_KERNEL_CACHE_USE_LIB_STAMP": "0",
    "TILELANG_HIP_SAVE_TEMP_FILES": "0",
    "TILELANG_JIT_DIAGNOSTICS": "0",
    "TILELANG_PASS_DIFF": "0",
    "TILELANG_PASS_DIFF_OUTPUT": "tmp/pass_diff_output",
    "TL_LOWER_TRACE": "0",
    "TL_LOWER_TRACE_DIR": "./tmp/lower_trace_dir",
    "TILELANG_PASS_PROFILE": "0",
    "TILELANG_PASS_PROFILE_THRESHOLD_MS": "0",
    "TILELANG_ENABLE_IR_SPAN": "1",
    "TILELANG_DEFAULT_TARGET": "auto",
    "TILELANG_EXECUTION_BACKEND": "auto",
    "TILELANG_VERBOSE": "0",
    "TILELANG_AUTO_TUNING_DISABLE_CACHE": "0",
    "TILELANG_AUTO_TUNING_ISOLATE": "1",
    "TILELANG_AUTO_TUNING_CPU_UTILITIES": "0.9",
    "TILELANG_AUTO_TUNING_CPU_COUNTS": "-1",
    "TILELANG_AUTO_TUNING_MAX_CPU_COUNT": "-1",
    "TILELANG_COMPILE_TIMEOUT_SECONDS": "",
    "TILELANG_CLEANUP_TEMP_FILES": "1",
}


class _Environment:
    def __init__(self):
        self.__dict__["_own"] = {}

    @property
    def env(self):
        """tilelang.env is both the module and this object."""
        return self

    def __getattr__(self, name):
        if name.startswith("_") or not name.isupper():
            raise AttributeError(name)
        own = self._own.get(name)
        return own if own is not None else os.environ.get(name, _DEFAULTS.get(name, ""))

    def __setattr__(self, name, value):
        self._own[name] = value
        os.environ[name] = str(value)

    def __delattr__(self, name):
        if name not in self._own:
            raise AttributeError(name)
        del self._own[name]
        os.environ.pop(name, None)

    def _set_cache(self, on):
        self._own["TILELANG_DISABLE_CACHE"] = "0" if on else "1"

    def is_cache_enabled(self):
        return str(self.TILELANG_DISABLE_CACHE).lower() in ("0", "", "false", "off")

    def enable_cache(self):
        self._set_cache(True)

    def disable_cache(self):
        self._set_cache(False)

    def is_autotune_cache_enabled(self):
        off = str(self.TILELANG_AUTO_TUNING_DISABLE_CACHE).lower()
        return off in ("0", "", "false", "off") and self.is_cache_enabled()

    def is_print_on_compilation_enabled(self):
        return str(self.TILELANG_PRINT_ON_COMPILATION).lower() in ("1", "true", "yes", "on")

    def no_device_code(self):
        """TILELANG_NO_DEVICE_CODE=1: stop at CUDA text, for machines without NVRTC."""
        return str(self.TILELANG_NO_DEVICE_CODE) not in ("", "0")

    def get_default_target(self):
        return self.TILELANG_DEFAULT_TARGET

    def get_default_layout_cost_model(self):
        """Layouts are chosen by what their accesses cost; there is one such model."""
        return None


env = _Environment()
enable_cache = env.enable_cache
disable_cache = env.disable_cache
is_cache_enabled = env.is_cache_enabled


def get_runtime_library_dirs():
    """Folders that the libraries of kernels are looked for in: none beside the system's own."""
    return []
