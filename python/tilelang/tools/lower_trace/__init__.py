"""The IR after every pass of the compilations to come, as a page or on the terminal."""

from ...env import env


def enable(*, mode="html", trace_dir=None):
    """mode: html, terminal or both; the same as TL_LOWER_TRACE and TL_LOWER_TRACE_DIR."""
    if mode not in ("html", "terminal", "both"):
        raise ValueError("mode is html, terminal or both, not %r" % (mode,))
    env.TL_LOWER_TRACE = mode
    if trace_dir is not None:
        env.TL_LOWER_TRACE_DIR = str(trace_dir)


def disable():
    env.TL_LOWER_TRACE = "0"
