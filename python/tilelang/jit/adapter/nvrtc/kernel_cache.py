"""A KernelCache whose code is a cubin and the Python text that launches it."""

from ....cache.kernel_cache import KernelCache


class NVRTCKernelCache(KernelCache):
    kernel_lib_path = "kernel.cubin"
    kernel_py_path = "kernel.py"
    code_paths = (kernel_lib_path, kernel_py_path)
