"""tilelang.webgpu: nothing of it is needed here; it has no names."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "language":
        import importlib

        return importlib.import_module(__name__ + ".language")

    raise AttributeError("tilelang.webgpu.%s is not supported" % name)
