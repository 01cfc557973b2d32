"""Questions to the GPU of this machine, by the driver's library; an H100's answers stand in when there
is none."""

import ctypes
import functools
import sys

from ...._target import device_arch

__all__ = ["get_cuda_device_properties", "get_device_attribute", "get_device_name",
           "get_max_dynamic_shared_size_bytes", "get_num_sms", "get_persisting_l2_cache_max_size",
           "get_registers_per_block", "get_shared_memory_per_block"]

# Attributes by their numbers, and what an H100 says.
_H100 = {1: 1024, 8: 49152, 10: 32, 12: 65536, 16: 132, 38: 52428800, 75: 9, 76: 0, 81: 233472,
         82: 65536, 97: 232448, 106: 32, 108: 32768000}


def _arch():
    return device_arch() or "sm_90a"


@functools.lru_cache(None)
def _driver():
    if device_arch() is None:
        return None
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        return cuda if cuda.cuInit(0) == 0 else None
    except OSError:
        return None


def get_device_attribute(attr, device_id=0):
    """An attribute by its number, such as 16 for the number of multiprocessors."""
    cuda, value, device = _driver(), ctypes.c_int(), ctypes.c_int()
    if cuda is None:
        return _H100.get(int(attr))
    if cuda.cuDeviceGet(ctypes.byref(device), device_id) or \
            cuda.cuDeviceGetAttribute(ctypes.byref(value), int(attr), device):
        return None
    return value.value


def get_device_name(device_id=0):
    cuda, device = _driver(), ctypes.c_int()
    name = ctypes.create_string_buffer(256)
    if cuda is None or cuda.cuDeviceGet(ctypes.byref(device), device_id) or \
            cuda.cuDeviceGetName(name, 256, device):
        return _arch()
    return name.value.decode()


def get_cuda_device_properties(device_id=0):
    """torch's object, where torch is imported and there is a GPU."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return torch.cuda.get_device_properties(device_id)
    return None


def _sized(size, format):
    scale = {"bytes": 0, "kb": 10, "mb": 20}
    if format not in scale:
        raise RuntimeError("Invalid format %r: it is bytes, kb or mb" % (format,))
    return size >> scale[format]


def get_num_sms(device_id=0):
    return get_device_attribute(16, device_id)


def get_shared_memory_per_block(device_id=0, format="bytes"):
    return _sized(get_device_attribute(8, device_id), format)


def get_max_dynamic_shared_size_bytes(device_id=0, format="bytes"):
    return _sized(get_device_attribute(97, device_id), format)


def get_registers_per_block(device_id=0):
    return get_device_attribute(12, device_id)


def get_persisting_l2_cache_max_size(device_id=0):
    return get_device_attribute(108, device_id)
