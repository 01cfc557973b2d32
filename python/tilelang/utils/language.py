"""Questions about buffers and their parts."""


def _buffer(obj):
    return getattr(obj, "buffer", obj)


def _scope(obj):
    return str(_buffer(obj).scope())


def is_global(obj):
    return _scope(obj) == "global"


def is_shared(obj, allow_dynamic=True):
    return _scope(obj) in (("shared", "shared.dyn") if allow_dynamic else ("shared",))


def is_shared_dynamic(obj):
    return _scope(obj) == "shared.dyn"


def is_local(obj):
    return _scope(obj) == "local"


def is_fragment(obj):
    return _scope(obj) == "local.fragment"


def is_reducer(obj):
    return _scope(obj) == "local.reducer"


def is_local_var(obj):
    return _scope(obj) == "local.var"


def is_tensor_memory(obj):
    return _scope(obj) == "shared.tmem"


def array_reduce(array):
    """The product of its elements."""
    product = 1
    for n in array:
        product = product * n
    return product


def get_buffer_elems(buffer):
    return array_reduce(buffer.shape)


def retrieve_shape(obj):
    """Extents of a buffer, or of a part of one."""
    region = getattr(obj, "region", None)
    return [r.extent for r in region] if region is not None else list(_buffer(obj).shape)


def retrieve_dtype(obj):
    return str(obj.dtype)


def bits_product(shape, dtype):
    """Bits of so many elements."""
    from ..language import dtype as _dtype

    return array_reduce(shape) * _dtype(dtype).bits


def to_buffer_region(obj, access_type="rw", extents=None):
    """A buffer as the region that is all of it; parts stay what they are."""
    if access_type not in ("r", "w", "rw"):
        raise ValueError("access_type is r, w or rw, not %r" % (access_type,))
    if getattr(obj, "buffer", None) is not None:
        return obj
    return obj[tuple(slice(0, n) for n in (extents or obj.shape))]
