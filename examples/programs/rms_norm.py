"""RMS norm of a sum, which is given back too."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (9, 96), "cpu": (2048, 2048), "gpu": (16384, 4096)}


@tl.tensor_program
def program(x, r, w):
    h = x + r
    return tl.rms_norm(h, w), h


def inputs(rng, m, n):
    return normal(rng, m, n), normal(rng, m, n), normal(rng, n)


def reference(x, r, w):
    h = x + r
    return h / np.sqrt((h * h).mean(-1, keepdims=True) + 1e-6) * w, h


def peer(torch, x, r, w):
    h = x + r
    return h * torch.rsqrt((h * h).mean(-1, keepdim=True) + 1e-6) * w, h


if __name__ == "__main__":
    main(globals())
