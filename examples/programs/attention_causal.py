"""Attention that sees what came before."""

import numpy as np
from common import main, normal, softmax

import tilelang as tl

SIZES = {"test": (2, 3, 40, 16), "cpu": (2, 8, 512, 64), "gpu": (4, 16, 4096, 128)}


@tl.tensor_program
def program(q, k, v):
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    s = tl.where(tl.iota(s, 2) >= tl.iota(s, 3), s, -tl.inf)
    return tl.softmax(s) @ v


def inputs(rng, b, h, s, d):
    return tuple(normal(rng, b, h, s, d) for _ in range(3))


def reference(q, k, v):
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    return softmax(np.where(np.tri(s.shape[-1]) > 0, s, -np.inf)) @ v


def peer(torch, q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


if __name__ == "__main__":
    main(globals())
