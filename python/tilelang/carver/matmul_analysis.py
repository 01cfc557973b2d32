"""Matrix products inside of functions are found by the compiler itself."""

from ..utils.target import target_is_cuda
from .arch.cuda import check_sm_version  # noqa: F401


def get_tensorized_func_and_tags(func, target, layout=None, skip_normalize=False, allow_gemv=False):
    """The function and no tags.  What the other arguments ask for is refused."""
    if layout is not None or skip_normalize or allow_gemv:
        raise NotImplementedError("get_tensorized_func_and_tags has nothing to choose")
    if not target_is_cuda(target):
        raise ValueError("matrix instructions are those of CUDA targets, not of %s" % target)
    return func, None
