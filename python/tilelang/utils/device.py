"""The device tensors are made on."""

import os
import sys


def get_current_device():
    """torch's current GPU, or None without one."""
    torch = sys.modules.get("torch")
    return torch.cuda.current_device() if torch is not None and torch.cuda.is_available() else None


def get_available_cpu_count():
    """Cores this process may use."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:
        return max(1, os.cpu_count() or 1)
