"""Questions to the GPU of this machine; an H100's answers stand in when there is none."""

import sys

from ... import _core


def _arch():
    return _core.gpu_arch() or "sm_90a"


def _property(name, default):
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return getattr(torch.cuda.get_device_properties(0), name, default)
    return default


def get_num_sms(device_id=0):
    return _property("multi_processor_count", 132)


def get_cuda_device_properties(device_id=0):
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return torch.cuda.get_device_properties(device_id)
    return None


def get_device_name(device_id=0):
    return _property("name", _arch())


def get_shared_memory_per_block(device_id=0, format="bytes"):
    size = 48 << 10
    return {"bytes": size, "kb": size >> 10, "mb": size >> 20}[format]


def get_max_dynamic_shared_size_bytes(device_id=0, format="bytes"):
    size = _property("shared_memory_per_block_optin", 232448)
    return {"bytes": size, "kb": size >> 10, "mb": size >> 20}[format]


def get_registers_per_block(device_id=0):
    return _property("regs_per_multiprocessor", 65536)


def get_persisting_l2_cache_max_size(device_id=0):
    return 32 << 20


def get_device_attribute(attr, device_id=0):
    return None
