"""One step of AdamW: four tensors in, three out."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (300,), "cpu": (1 << 22,), "gpu": (1 << 26,)}


@tl.tensor_program
def program(p, g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    step = (m / (1 - 0.9**3)) / (tl.sqrt(v / (1 - 0.999**3)) + 1e-3)
    return p - 1e-3 * (step + 0.01 * p), m, v


def inputs(rng, n):
    return normal(rng, n), normal(rng, n), normal(rng, n), np.abs(normal(rng, n))


def reference(p, g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    step = (m / (1 - 0.9**3)) / (np.sqrt(v / (1 - 0.999**3)) + 1e-3)
    return p - 1e-3 * (step + 0.01 * p), m, v


def peer(torch, p, g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    step = (m / (1 - 0.9**3)) / (torch.sqrt(v / (1 - 0.999**3)) + 1e-3)
    return p - 1e-3 * (step + 0.01 * p), m, v


if __name__ == "__main__":
    main(globals())
