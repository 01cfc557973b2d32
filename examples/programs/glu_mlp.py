"""A gated MLP: silu(x w1) * (x w2), by w3."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (20, 32, 48), "cpu": (256, 768, 2048), "gpu": (4096, 4096, 11008)}


@tl.tensor_program
def program(x, w1, w2, w3):
    return (tl.silu(x @ w1) * (x @ w2)) @ w3


def inputs(rng, m, k, n):
    return normal(rng, m, k), normal(rng, k, n) / k**0.5, normal(rng, k, n) / k**0.5, normal(rng, n, k) / n**0.5


def reference(x, w1, w2, w3):
    h = x @ w1
    return (h / (1 + np.exp(-h)) * (x @ w2)) @ w3


def peer(torch, x, w1, w2, w3):
    return (torch.nn.functional.silu(x @ w1) * (x @ w2)) @ w3


if __name__ == "__main__":
    main(globals())
