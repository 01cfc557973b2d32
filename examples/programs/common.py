"""What the programs of this folder share: inputs, and a check of one by itself.

Each file has SIZES (of a test, a CPU, a GPU), program (tensors in, tensors out), inputs, reference (numpy, float64)
and peer, the same in torch, for bench/programs.py.  ROUNDED: the result whose numbers were rounded, so that the last
digit of what came before may move them by one.  CHOSEN: the result that is positions of the largest scores(torch, ...)
of a row; where scores are equal but for rounding bench/programs.py takes either."""

import numpy as np


def normal(rng, *shape):
    return rng.standard_normal(shape).astype("float32")


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def as_tuple(v):
    return tuple(v) if isinstance(v, (tuple, list)) else (v,)


def exact(arrays):
    """The same in float64, integers as they are."""
    return [a.astype("float64") if a.dtype.kind == "f" else a for a in arrays]


def differs(scope, got, arrays, tolerance):
    """Why what a program gave is not what numpy gives; None: it is."""
    got = tuple(np.asarray(g, "float64") for g in as_tuple(got))
    got = scope["seen"](*got) if "seen" in scope else got
    for k, (g, w) in enumerate(zip(got, as_tuple(scope["reference"](*exact(arrays))), strict=True)):
        if g.shape != np.shape(w):
            return "result %d has shape %s, not %s" % (k, g.shape, np.shape(w))
        bar = 1 if scope.get("ROUNDED") == k else tolerance * (1 + np.abs(w).max())
        worst = np.abs(g - w).max(initial=0)
        if not worst <= bar:
            return "result %d differs by %g" % (k, worst)
    return None


def main(scope):
    arrays = scope["inputs"](np.random.default_rng(0), *scope["SIZES"]["test"])
    why = differs(scope, scope["program"](*arrays), arrays, 1e-4)
    print(scope["program"].explain(), end="")
    if why:
        raise SystemExit(why)
    print("right")
