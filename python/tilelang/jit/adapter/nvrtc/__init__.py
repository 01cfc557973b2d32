"""NVRTC compiles what is emitted for CUDA; the library loads it itself."""

is_nvrtc_available = False  # the adapter on cuda-python: there is none here, and none is needed


def check_nvrtc_available():
    raise ImportError("there is no adapter on cuda-python: the library loads NVRTC itself")
