"""tilelang.webgpu: nothing of it is needed here; its names raise when they are used."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "language":
        import importlib

        return importlib.import_module(__name__ + ".language")

    def refuse(*args, **keys):
        raise NotImplementedError("tilelang.webgpu.%s is not supported" % name)

    refuse.__name__ = name
    return refuse
