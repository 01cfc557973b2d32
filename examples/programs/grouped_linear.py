"""Groups of rows, each by a matrix of its own."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (3, 20, 16, 24), "cpu": (8, 128, 512, 512), "gpu": (16, 512, 2048, 2048)}


@tl.tensor_program
def program(x, w, b):
    return tl.relu(tl.einsum("gmk,gkn->gmn", x, w) + b[:, None])


def inputs(rng, g, m, k, n):
    return normal(rng, g, m, k), normal(rng, g, k, n) / k**0.5, normal(rng, g, n)


def reference(x, w, b):
    return np.maximum(x @ w + b[:, None], 0)


def peer(torch, x, w, b):
    return torch.relu(torch.einsum("gmk,gkn->gmn", x, w) + b[:, None])


if __name__ == "__main__":
    main(globals())
