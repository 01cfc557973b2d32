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


def _numpy_supply(param, shape, kind):
    import numpy

    rng = numpy.random.default_rng(0)
    dt = numpy_dtype(str(param.dtype))
    if kind == TensorSupplyType.Zero:
        return numpy.zeros(shape, dt)
    if kind == TensorSupplyType.One:
        return numpy.ones(shape, dt)
    if param.is_boolean():
        return rng.integers(0, 2, shape).astype(dt)
    if not param.dtype.is_float():
        low, high = (0, 3) if param.is_unsigned() else (-2, 3)
        return rng.integers(low, high, shape).astype(dt)
    if kind == TensorSupplyType.Integer:
        return rng.integers(-2, 3, shape).astype(dt)
    if kind in (TensorSupplyType.Normal, TensorSupplyType.Randn):
        return rng.standard_normal(shape).astype("float32").astype(dt)
    return rng.uniform(-1, 1, shape).astype("float32").astype(dt)


def _torch_supply(torch, param, shape, kind):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    t = param.torch_dtype()
    if kind == TensorSupplyType.Zero:
        return torch.zeros(shape, dtype=t, device=device)
    if kind == TensorSupplyType.One:
        return torch.ones(shape, dtype=t, device=device)
    if param.is_boolean():
        return torch.randint(0, 2, shape, device=device).to(t)
    if not param.dtype.is_float():
        low, high = (0, 3) if param.is_unsigned() else (-2, 3)
        return torch.randint(low, high, shape, device=device).to(t)
    if kind == TensorSupplyType.Integer or param.is_float8():
        return torch.randint(-2, 3, shape, device=device).to(torch.float32).to(t)
    if kind in (TensorSupplyType.Normal, TensorSupplyType.Randn):
        return torch.randn(shape, device=device, dtype=torch.float32).to(t)
    return torch.empty(shape, device=device, dtype=torch.float32).uniform_(-1, 1).to(t)


def supply(param, kind=TensorSupplyType.Auto, constraints=None):
    """One input for a parameter."""
    if param.is_scalar():
        if constraints and param.name in constraints:
            return constraints[param.name]
        raise ValueError("the scalar %r needs a value: give input_tensors" % param.name)
    shape = []
    for n in param.shape:
        if isinstance(n, str):
            n = (constraints or {}).get(n)
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


def torch_assert_close(tensor_a, tensor_b, rtol=1e-2, atol=1e-3, max_mismatched_ratio=0.001,
                       verbose=False, equal_nan=True, check_device=True, check_dtype=True,
                       check_stride=False, check_layout=True, msg=None, base_name="LHS",
                       ref_name="RHS"):
    """Compare, allowing a few elements to differ."""
    import numpy

    a, b = _as_numpy(tensor_a), _as_numpy(tensor_b)
    if a.shape != b.shape:
        raise AssertionError("shapes differ: %s and %s" % (a.shape, b.shape))
    with numpy.errstate(all="ignore"):
        bad = ~(numpy.abs(a - b) <= atol + rtol * numpy.abs(b)) & ~(a == b)
    if equal_nan:
        bad &= ~(numpy.isnan(a) & numpy.isnan(b))
    count, most = int(bad.sum()), int(max_mismatched_ratio * a.size)
    if verbose:
        print("%d of %d elements differ" % (count, a.size))
    if count > most:
        where = tuple(int(i) for i in numpy.argwhere(bad)[0])
        raise AssertionError(
            "%s%d of %d elements differ (%d are allowed); first at %s: %r and %r"
            % (msg + ": " if msg else "", count, a.size, most, where, float(a[where]),
               float(b[where]))
        )
    return True
