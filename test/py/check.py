"""What the tests share."""

import contextlib
import os

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


@contextlib.contextmanager
def settings(**values):
    """tilelang.env with these values; after it what the process was started with counts again."""
    from tilelang.env import env

    before = {name: os.environ.get(name) for name in values}
    for name, value in values.items():
        setattr(env, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            delattr(env, name)
            if value is not None:
                os.environ[name] = value
