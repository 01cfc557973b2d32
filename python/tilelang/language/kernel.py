"""Launches: what T.Kernel makes of threads=, and functions that open a launch of their own."""

_MARK = "__tilelang_kernel_launch__"


def kernel_launch_factory(func):
    """Marks a function that returns T.Kernel(…) and stands behind `with` itself.  Here any such
    function may."""
    setattr(func, _MARK, True)
    return func


def is_kernel_launch_factory(obj):
    from . import ClusterKernel, CUDASourceCodeKernel, Kernel

    return obj in (Kernel, ClusterKernel, CUDASourceCodeKernel) or getattr(obj, _MARK, False) is True


def launch_kernel(blocks, *, threads=None, prelude=None, cluster_dims=None, **annotations):
    """T.Kernel with the extents as one tuple.  Other targets have annotations of their own."""
    from . import Kernel

    if annotations:
        raise NotImplementedError("launch annotations %s belong to targets that have no back-end here"
                                  % ", ".join(sorted(annotations)))
    return Kernel(*blocks, threads=threads, prelude=prelude, cluster_dims=cluster_dims)


def _normalize_threads(threads):
    """Three extents; 128 threads where nothing is said."""
    if threads is None:
        threads = 128
    given = list(threads) if isinstance(threads, (list, tuple)) else [threads]
    for n in given:
        if isinstance(n, int) and n <= 0:
            raise ValueError("threads must be positive, not %r [kernel-extent]" % (threads,))
    return given + [1] * (3 - len(given))
