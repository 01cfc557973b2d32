"""Kernels as operators of torch, so that torch.compile does not look inside of them."""

import itertools
import weakref

_count = itertools.count()
_TYPES = {"float": "float", "int": "int", "uint": "int", "bool": "bool", "handle": "int"}


def _schema(kernel, rows):
    words = []
    for i in kernel._ins:
        name, dtype, _, scalar, _, _, written = rows[i]
        if scalar:
            kind = _TYPES[kernel.params[i].dtype._about()[3]]
        else:
            kind = "Tensor(a%d!)" % i if written else "Tensor"
        words.append("%s %s" % (kind, name))
    outs = len(kernel._outs)
    gives = "()" if not outs else "Tensor" if outs == 1 else "(%s)" % ", ".join(["Tensor"] * outs)
    return "(%s) -> %s" % (", ".join(words), gives)


def _sizes(kernel, args):
    """Values of the names in shapes: extents of inputs, and scalars."""
    names = {}
    for i, x in zip(kernel._ins, args):
        if kernel.params[i].is_scalar():
            names[kernel.params[i].name] = x
        for n, size in zip(kernel._named[i], getattr(x, "shape", ())):
            if isinstance(n, str) and n.isidentifier():
                names.setdefault(n, size)
    return names


def _min(a, b):
    import torch

    return torch.sym_min(a, b)


def _max(a, b):
    import torch

    return torch.sym_max(a, b)


def _extent(n, names):
    """The extent of an output from its text, which is an expression of sizes; one that is not
    becomes a size torch knows nothing of."""
    if not isinstance(n, str):
        return n
    try:
        return eval(n, {"__builtins__": {}, "min": _min, "max": _max}, names)
    except Exception:
        import torch

        return torch.library.get_ctx().new_dynamic_size()


def register(kernel, name=None):
    import torch

    name = "tilelang::%s" % (name or "%s_%d" % (kernel.name, next(_count)))
    rows = kernel._core.params()
    try:
        torch.library.define(name, _schema(kernel, rows))
    except Exception:  # a parameter named as no operator's may be; the kernel works without
        return None

    ref = weakref.ref(kernel)  # operators live for ever; kernels need not
    del kernel

    def run(*args):
        kernel = ref()
        if kernel is None:
            raise RuntimeError("the kernel of %s is gone" % name)
        full = kernel._arguments(args, {})
        kernel._run(*full)
        got = tuple(full[i] for i in kernel._outs)
        return None if not got else got[0] if len(got) == 1 else got

    def fake(*args):
        kernel = ref()
        first = next(x for x in args if hasattr(x, "shape"))
        names = _sizes(kernel, args)
        made = tuple(
            first.new_empty([_extent(n, names) for n in kernel._named[i]],
                            dtype=kernel.params[i].torch_dtype())
            for i in kernel._outs
        )
        return None if not made else made[0] if len(made) == 1 else made

    for kind in ("CPU", "CUDA"):
        torch.library.impl(name, kind)(run)
    torch.library.register_fake(name)(fake)
    space, word = name.split("::")
    return getattr(getattr(torch.ops, space), word)
