"""Causal attention that sees the last positions only."""

import numpy as np
from common import main, normal, softmax

import tilelang as tl

SIZES = {"test": (2, 3, 70, 16), "cpu": (2, 8, 1024, 64), "gpu": (4, 16, 8192, 128)}


@tl.tensor_program
def program(q, k, v):
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    back = tl.iota(s, 2) - tl.iota(s, 3)
    return tl.softmax(tl.where((back >= 0) & (back < s.shape[-1] // 8), s, -tl.inf)) @ v


def inputs(rng, b, h, s, d):
    return tuple(normal(rng, b, h, s, d) for _ in range(3))


def reference(q, k, v):
    n = q.shape[-2]
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    back = np.arange(n)[:, None] - np.arange(n)
    return softmax(np.where((back >= 0) & (back < n // 8), s, -np.inf)) @ v


def peer(torch, q, k, v):
    n = q.shape[-2]
    at = torch.arange(n, device=q.device)
    back = at[:, None] - at
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=(back >= 0) & (back < n // 8))


if __name__ == "__main__":
    main(globals())
