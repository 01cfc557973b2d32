"""Rows of a table by number, plus positions, normed."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (3, 10, 50, 32), "cpu": (8, 512, 20000, 512), "gpu": (16, 4096, 50000, 2048)}


@tl.tensor_program
def program(i, table, position, w, b):
    return tl.layer_norm(tl.take(table, i, axis=0) + position, w, b)


def inputs(rng, b, s, n, d):
    i = rng.integers(0, n, (b, s)).astype("int32")
    return i, normal(rng, n, d), normal(rng, s, d), normal(rng, d), normal(rng, d)


def reference(i, table, position, w, b):
    h = table[i] + position
    c = h - h.mean(-1, keepdims=True)
    return c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5) * w + b


def peer(torch, i, table, position, w, b):
    return torch.nn.functional.layer_norm(torch.nn.functional.embedding(i, table) + position, w.shape, w, b)


if __name__ == "__main__":
    main(globals())
