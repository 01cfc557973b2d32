"""A KernelCache whose code is a library that the kernel exports."""

import os

from ...cache.kernel_cache import KernelCache


class TVMFFIKernelCache(KernelCache):
    """The library's options depend on what the host part is: C text, or objects to link."""

    def _save_so_cubin_to_disk(self, kernel, path, verbose=False):
        host = getattr(kernel.artifact, "target_host", "c")
        kind = getattr(getattr(host, "kind", host), "name", host)
        options = self._get_source_compile_args() if kind == "c" else self._get_export_link_args()
        self._safe_write_executable(kernel.adapter.get_exportable_executable(),
                                    os.path.join(path, self.kernel_lib_path), options)
