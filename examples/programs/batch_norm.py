"""Batch norm of images by their own mean and variance, then ReLU."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (3, 4, 5, 6), "cpu": (16, 64, 32, 32), "gpu": (64, 256, 56, 56)}


@tl.tensor_program
def program(x, w, b):
    m = x.mean(axis=(0, 2, 3), keepdims=True)
    d = x.var(axis=(0, 2, 3), keepdims=True)
    return tl.relu((x - m) * tl.rsqrt(d + 1e-5) * w[:, None, None] + b[:, None, None])


def inputs(rng, n, c, h, v):
    return normal(rng, n, c, h, v), normal(rng, c), normal(rng, c)


def reference(x, w, b):
    y = x - x.mean((0, 2, 3), keepdims=True)
    return np.maximum(y / np.sqrt(y.var((0, 2, 3), keepdims=True) + 1e-5) * w[:, None, None] + b[:, None, None], 0)


def peer(torch, x, w, b):
    return torch.relu(torch.nn.functional.batch_norm(x, None, None, w, b, training=True))


if __name__ == "__main__":
    main(globals())
