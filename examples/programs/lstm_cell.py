"""One step of an LSTM."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (5, 8, 6), "cpu": (256, 512, 512), "gpu": (4096, 1024, 1024)}


@tl.tensor_program
def program(x, h, c, w, u, b):
    i, f, g, o = tl.split(x @ w + h @ u + b, 4, axis=-1)
    c = tl.sigmoid(f) * c + tl.sigmoid(i) * tl.tanh(g)
    return tl.sigmoid(o) * tl.tanh(c), c


def inputs(rng, m, k, n):
    return (normal(rng, m, k), normal(rng, m, n), normal(rng, m, n), normal(rng, k, 4 * n) / k**0.5,
            normal(rng, n, 4 * n) / n**0.5, normal(rng, 4 * n))


def reference(x, h, c, w, u, b):
    i, f, g, o = np.split(x @ w + h @ u + b, 4, -1)
    c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
    return np.tanh(c) / (1 + np.exp(-o)), c


def peer(torch, x, h, c, w, u, b):
    i, f, g, o = (x @ w + h @ u + b).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


if __name__ == "__main__":
    main(globals())
