"""tilelang.lower: the emitted text and what a launch needs, without running anything."""

import re

from .._errors import ignored
from ..jit import _finish, _postproc


class _Name(str):
    """A kernel's name where the original has a GlobalVar."""

    name_hint = property(str)


class _Module(str):
    """IR as text; `functions` are the kernels of the emitted text, by name."""

    functions = {}


def _module(kernel, source):
    module = _Module(kernel.get_ir())
    names = re.findall(r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)", source)
    module.functions = {_Name(name): source for name in names}
    return module


class CompiledArtifact:
    """What lower gives: kernel_source, params, target, and IR text as host and device modules."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.kernel_source = kernel.get_kernel_source()
        self.params = kernel.params
        self.target = kernel.target
        self.target_host = "c"
        self.device_mod = _module(kernel, self.kernel_source)
        self.host_mod = kernel.get_ir()
        self.rt_mod = kernel


def lower(func_or_mod, target="auto", target_host=None, runtime_only=False,
          enable_host_codegen=False, enable_device_compile=False):
    """Lower and emit a @T.prim_func.  runtime_only: nothing but what runs, without the modules."""
    if target_host is not None:
        ignored("target_host", "the part of a kernel that runs on the host is built for this "
                "machine")
    if enable_host_codegen:
        raise NotImplementedError("enable_host_codegen=True: the host's part of a kernel is no "
                                  "text; JITKernel.get_host_source is what there is to see")
    kernel, _ = _finish(func_or_mod, func_or_mod._take, func_or_mod.attrs.get("tilelang_out_idx"),
                        target, func_or_mod.attrs.get("tilelang_pass_configs"), None,
                        func_or_mod.__name__, no_build=not enable_device_compile)
    made = CompiledArtifact(kernel)
    if runtime_only:
        made.device_mod = made.host_mod = None
    return made


def extrac_params(func):
    """The parameters of a @T.prim_func."""
    return func.params


def _register(kind, func, override):
    if kind in _postproc and not override:
        raise ValueError("a function is registered already, and override is false")
    if func is None:
        _postproc.pop(kind, None)
    else:
        _postproc[kind] = func


def _pair(word, kind):
    """register_WORD_postproc(func), and the same as a decorator."""

    def register(func, override=True):
        _register(kind, func, override)

    def callback(func=None, override=True):
        if callable(func):
            _register(kind, func, override)
            return func
        return lambda f: callback(f, override)

    register.__name__ = "register_%s_postproc" % word
    callback.__name__ = register.__name__ + "_callback"
    register.__doc__ = callback.__doc__ = (
        "func(text, target) gives the text that is compiled in place of what was emitted for a "
        "target, from now on; None takes it back.  Simulated kernels do not go through it.")
    return register, callback


register_cuda_postproc, register_cuda_postproc_callback = _pair("cuda", "cuda")
register_c_postproc, register_c_postproc_callback = _pair("c", "cpu")
# Nothing is emitted for these; scripts that register for every target go on.
register_hip_postproc, register_hip_postproc_callback = _pair("hip", "hip")
register_metal_postproc, register_metal_postproc_callback = _pair("metal", "metal")
