"""What compiling is busy with, in the log: TILELANG_JIT_DIAGNOSTICS=1."""

import contextlib
import os
import time


def enabled():
    return os.environ.get("TILELANG_JIT_DIAGNOSTICS", "").lower() in ("1", "true", "on", "yes")


@contextlib.contextmanager
def jit_phase(phase, enabled=None, **context):
    """Say when a phase starts, ends or fails, how long it took, and what it is about."""
    if not (globals()["enabled"]() if enabled is None else enabled):
        yield
        return
    import logging

    logger = logging.getLogger(__name__)
    about = ", ".join("%s=%r" % pair for pair in context.items())
    about = " (%s)" % about if about else ""
    logger.info("TileLang JIT phase start: %s%s", phase, about)
    start = time.monotonic()
    try:
        yield
    except BaseException as why:
        logger.info("TileLang JIT phase failed: %s after %.3f s%s: %s", phase,
                    time.monotonic() - start, about, why)
        raise
    logger.info("TileLang JIT phase done: %s in %.3f s%s", phase, time.monotonic() - start, about)
