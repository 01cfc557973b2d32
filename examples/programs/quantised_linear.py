"""A linear layer whose weights are int8 with a scale for each column."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (16, 32, 24), "cpu": (256, 1024, 1024), "gpu": (2048, 4096, 4096)}


@tl.tensor_program
def program(x, q, s):
    return x @ (q.astype(x.dtype) * s)


def inputs(rng, m, k, n):
    return normal(rng, m, k), rng.integers(-127, 128, (k, n)).astype("int8"), np.abs(normal(rng, n)) / 1000


def reference(x, q, s):
    return x @ (q * s)


def peer(torch, x, q, s):
    return x @ (q.to(x.dtype) * s)


if __name__ == "__main__":
    main(globals())
