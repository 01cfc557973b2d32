"""Group norm of images, then SiLU."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (2, 4, 6, 5, 2), "cpu": (4, 64, 64, 64, 8), "gpu": (32, 256, 64, 64, 32)}


@tl.tensor_program
def program(x, w, b):
    n, c, h, v = x.shape
    g = x.reshape(n, c // w.shape[1], w.shape[1], h, v)
    m = g.mean(axis=(2, 3, 4), keepdims=True)
    d = g.var(axis=(2, 3, 4), keepdims=True)
    return tl.silu((g - m) * tl.rsqrt(d + 1e-5) * w[:, :, None, None] + b[:, :, None, None]).reshape(n, c, h, v)


def inputs(rng, n, c, h, v, groups):
    return normal(rng, n, c, h, v), normal(rng, groups, c // groups), normal(rng, groups, c // groups)


def reference(x, w, b):
    g = x.reshape(x.shape[0], *w.shape, -1)
    y = g - g.mean((2, 3), keepdims=True)
    y = (y / np.sqrt(y.var((2, 3), keepdims=True) + 1e-5) * w[:, :, None] + b[:, :, None]).reshape(x.shape)
    return y / (1 + np.exp(-y))


def peer(torch, x, w, b):
    return torch.nn.functional.silu(torch.nn.functional.group_norm(x, w.shape[0], w.reshape(-1), b.reshape(-1)))


if __name__ == "__main__":
    main(globals())
