"""Rotary positions: halves of each head turned by an angle."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (2, 3, 10, 16), "cpu": (4, 16, 1024, 64), "gpu": (8, 32, 4096, 128)}


@tl.tensor_program
def program(x, c, s):
    a, b = tl.split(x, 2, axis=-1)
    return tl.concatenate([a * c - b * s, b * c + a * s], axis=-1)


def inputs(rng, b, h, n, d):
    t = normal(rng, n, d // 2)
    return normal(rng, b, h, n, d), np.cos(t), np.sin(t)


def reference(x, c, s):
    a, b = np.split(x, 2, -1)
    return np.concatenate([a * c - b * s, b * c + a * s], -1)


def peer(torch, x, c, s):
    a, b = x.chunk(2, -1)
    return torch.cat([a * c - b * s, b * c + a * s], -1)


if __name__ == "__main__":
    main(globals())
