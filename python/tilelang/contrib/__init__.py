"""tilelang.contrib: nothing of it is needed here; its names raise when they are used."""


from . import nvcc  # noqa: F401


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def refuse(*args, **keys):
        raise NotImplementedError("tilelang.contrib.%s is not supported" % name)

    refuse.__name__ = name
    return refuse
