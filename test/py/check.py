"""What the tests share."""

import contextlib

import numpy as np


@contextlib.contextmanager
def raises(kind, *words):
    """The block raises `kind`, and its text has all the words."""
    try:
        yield
    except kind as e:
        for w in words:
            assert w in str(e), "%r is not in: %s" % (w, e)
    else:
        raise AssertionError("%s was not raised" % (kind,))


def randn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def near(a, b, tol=1e-4):
    worst = float(np.max(np.abs(np.asarray(a, "float64") - np.asarray(b, "float64"))))
    assert worst <= tol * (1 + float(np.max(np.abs(b)))), "differs by %g" % worst
