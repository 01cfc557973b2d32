"""Arrays for tests and benchmarks, of torch when the caller has imported it, else of numpy."""

import enum
import sys


class TensorSupplyType(enum.Enum):
    Integer = 1
    Uniform = 2
    Normal = 3
    Randn = 4
    Zero = 5
    One = 6
    Auto = 7


def numpy_dtype(name):
    """numpy's dtype for one of ours; formats numpy lacks come from ml_dtypes when it is there."""
    import numpy

    plain = {"bool": "bool_", "boolean": "bool_"}.get(name, name)
    found = getattr(numpy, plain, None)
    if found is not None:
        return numpy.dtype(found)
    if name in ("int4", "uint4", "float4_e2m1fn"):
        return numpy.dtype("uint8" if name != "int4" else "int8")
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(
            "numpy has no %s; install ml_dtypes for it, or use torch tensors" % name
        ) from None
    return numpy.dtype(getattr(ml_dtypes, name))


def map_torch_type(name):
    import torch

    return getattr(torch, {"e4m3_float8": "float8_e4m3fn", "e5m2_float8": "float8_e5m2"}.get(
        str(name), str(name)))


def _spread(param, kind):
    """How the numbers of an input are made: (what, low or mean, high or deviation)."""
    if kind == TensorSupplyType.Zero:
        return "all", 0, 0
    if kind == TensorSupplyType.One:
        return "all", 1, 0
    real, name = param.dtype.is_float(), str(param.dtype)
    if name == "int8" and kind in (TensorSupplyType.Uniform, TensorSupplyType.Normal):
        return "all", 1, 0
    if kind == TensorSupplyType.Uniform and real:
        return "uniform", -1, 1
    if kind == TensorSupplyType.Normal and real:
        return "normal", -1, 1
    if kind == TensorSupplyType.Randn and real:
        return "normal", 0, 1
    if param.is_boolean():
        return "integer", 0, 2
    if param.is_float8():
        return "integer", -128, 128
    if name.startswith("float4"):
        return "integer", 0, 16
    if param.is_unsigned():
        return "integer", 0, 3
    if kind == TensorSupplyType.Auto and real:
        return "uniform", -1, 1
    return "integer", -2, 3


def _numpy_supply(param, shape, kind):
    import zlib

    import numpy

    rng = numpy.random.default_rng(zlib.crc32(param.name.encode()))  # no two inputs alike
    dt = numpy_dtype(str(param.dtype))
    what, a, b = _spread(param, kind)
    if what == "all":
        return numpy.full(shape, a, dt)
    if what == "integer":
        return rng.integers(a, b, shape).astype(dt)
    made = rng.uniform(a, b, shape) if what == "uniform" else rng.normal(a, b, shape)
    return made.astype("float32").astype(dt)


def _torch_supply(torch, param, shape, kind):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    t = param.torch_dtype()
    what, a, b = _spread(param, kind)
    if what == "all":
        return torch.full(shape, a, device=device).to(t)
    if what == "integer":
        made = torch.randint(a, b, shape, device=device)
        return made.to(torch.float32).to(t) if param.is_float8() else made.to(t)
    made = torch.empty(shape, device=device, dtype=torch.float32)
    return (made.uniform_(a, b) if what == "uniform" else made.normal_(a, b)).to(t)


def _extent(text, constraints):
    """The value of an extent, which is an expression of names, or None."""
    names = {str(k): v for k, v in constraints.items()}
    try:
        return eval(text, {"__builtins__": {}, "min": min, "max": max}, names)
    except NameError:
        return None


def supply(param, kind=TensorSupplyType.Auto, constraints=None):
    """One input for a parameter."""
    if param.is_scalar():
        if constraints and param.name in constraints:
            return constraints[param.name]
        raise ValueError("the scalar %r needs a value: give input_tensors" % param.name)
    shape = []
    for n in param.shape:
        if isinstance(n, str):
            n = _extent(n, constraints or {})
        if n is None:
            raise ValueError(
                "%r has an extent that is known only at run time: give input_tensors, or "
                "dynamic_symbolic_constraints" % param.name
            )
        shape.append(int(n))
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "randint"):
        return _torch_supply(torch, param, tuple(shape), kind)
    return _numpy_supply(param, tuple(shape), kind)


def get_tensor_supply(supply_type=TensorSupplyType.Auto):
    return lambda param: supply(param, supply_type)


def _as_numpy(x):
    import numpy

    if hasattr(x, "detach"):
        x = x.detach().float().cpu().numpy()
    return numpy.asarray(x).astype("float64")


def _comparable(torch, a, b):
    """On one device, of one type that isclose takes."""
    if b.device != a.device:
        b = b.to(a.device)
    if a.dtype != b.dtype:
        t = torch.promote_types(a.dtype, b.dtype)
        a, b = a.to(t), b.to(t)
    if a.is_floating_point() and a.element_size() < 2:
        a, b = a.float(), b.float()
    if a.dtype == torch.bool:
        a, b = a.to(torch.uint8), b.to(torch.uint8)
    return a, b


def _differ(what, names, a, b):
    return "%s differ: %s of %s and %s of %s" % (what, a, names[0], b, names[1])


def _strides(x):
    """In elements, of torch's tensors and numpy's arrays."""
    if callable(getattr(x, "stride", None)):
        return tuple(x.stride())
    return tuple(n // x.itemsize for n in x.strides)


def torch_assert_close(tensor_a, tensor_b, rtol=1e-2, atol=1e-3, max_mismatched_ratio=0.001,
                       verbose=False, equal_nan=True, check_device=True, check_dtype=True,
                       check_stride=False, check_layout=True, msg=None, base_name="LHS",
                       ref_name="RHS"):
    """Compare, allowing a few elements to differ.  Devices, dtypes and layouts must agree too, of
    torch's tensors, and strides if that is asked for; messages call them base_name and ref_name."""
    both = (base_name, ref_name)
    if tuple(tensor_a.shape) != tuple(tensor_b.shape):
        raise AssertionError(_differ("shapes", both, tuple(tensor_a.shape), tuple(tensor_b.shape)))
    if check_stride and _strides(tensor_a) != _strides(tensor_b):
        raise AssertionError(_differ("strides", both, _strides(tensor_a), _strides(tensor_b)))
    if hasattr(tensor_a, "detach") and hasattr(tensor_b, "detach"):
        import torch

        for checked, what in ((check_device, "device"), (check_dtype, "dtype"),
                              (check_layout, "layout")):
            ours, theirs = getattr(tensor_a, what), getattr(tensor_b, what)
            if checked and ours != theirs:
                raise AssertionError(_differ(what + "s", both, ours, theirs))
        a, b = _comparable(torch, tensor_a.detach(), tensor_b.detach())
        bad = ~torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
        size = a.numel()
    else:
        import numpy

        a, b = _as_numpy(tensor_a), _as_numpy(tensor_b)
        bad = ~numpy.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
        size = a.size
    count, most = int(bad.sum()), int(max_mismatched_ratio * size)
    if verbose:
        print("%d of %d elements differ" % (count, size))
    if count > most:
        import numpy

        flat = int((bad.cpu().numpy() if hasattr(bad, "cpu") else bad).argmax())
        where = tuple(int(i) for i in numpy.unravel_index(flat, tuple(a.shape)))
        raise AssertionError(
            "%s%d of %d elements differ (%d are allowed); first at %s: %s has %r and %s %r"
            % (msg + ": " if msg else "", count, size, most, where, base_name, float(a[where]),
               ref_name, float(b[where]))
        )
    return True
