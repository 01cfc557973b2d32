"""A linear layer with bias and GELU: one kernel."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (20, 32, 24), "cpu": (512, 1024, 1024), "gpu": (4096, 4096, 4096)}


@tl.tensor_program
def program(x, w, b):
    h = x @ w + b
    return h * tl.sigmoid(1.702 * h)


def inputs(rng, m, k, n):
    return normal(rng, m, k), normal(rng, k, n) / k**0.5, normal(rng, n)


def reference(x, w, b):
    h = x @ w + b
    return h / (1 + np.exp(-1.702 * h))


def peer(torch, x, w, b):
    h = x @ w + b
    return h * torch.sigmoid(1.702 * h)


if __name__ == "__main__":
    main(globals())
