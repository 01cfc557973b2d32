"""The block of a kernel: what T.Kernel makes of threads=."""


def _normalize_threads(threads):
    """Three extents; 128 threads where nothing is said."""
    if threads is None:
        threads = 128
    given = list(threads) if isinstance(threads, (list, tuple)) else [threads]
    for n in given:
        if isinstance(n, int) and n <= 0:
            raise ValueError("threads must be positive, not %r [kernel-extent]" % (threads,))
    return given + [1] * (3 - len(given))
