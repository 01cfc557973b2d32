"""The kernel cache on disk."""

from .._refused import refusal

_store = None


def _kernels():
    global _store
    if _store is None:
        from .kernel_cache import KernelCache

        _store = KernelCache()
    return _store


def clear_cache():
    """Remove every compiled kernel; gives their number."""
    return _kernels().clear_cache()


def cached(func, out_idx=None, target=None, target_host=None, execution_backend=None, verbose=None,
           pass_configs=None, compile_flags=None):
    """The kernel of a @T.prim_func: from memory, from disk, or compiled now and kept."""
    return _kernels().cached(func, out_idx, target, target_host, execution_backend, verbose,
                             pass_configs, compile_flags)


def __getattr__(name):
    if name == "_dispatch_map":  # by execution backend; here all are one
        return {"tvm_ffi": _kernels()}
    raise refusal(__name__, name)
