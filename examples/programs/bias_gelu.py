"""Elements: bias, GELU, scale and a residual."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (5, 70), "cpu": (2048, 2048), "gpu": (8192, 8192)}


@tl.tensor_program
def program(x, b, r):
    return tl.gelu(x + b) * 0.5 + r


def inputs(rng, m, n):
    return normal(rng, m, n), normal(rng, n), normal(rng, m, n)


def reference(x, b, r):
    import math

    h = x + b
    return h * 0.5 * (1 + np.vectorize(math.erf)(h / math.sqrt(2))) * 0.5 + r


def peer(torch, x, b, r):
    return torch.nn.functional.gelu(x + b) * 0.5 + r


if __name__ == "__main__":
    main(globals())
