"""Causal attention whose scores are capped by tanh."""

import numpy as np
from common import main, normal, softmax

import tilelang as tl

SIZES = {"test": (2, 3, 40, 16), "cpu": (2, 8, 512, 64), "gpu": (4, 16, 4096, 128)}


@tl.tensor_program
def program(q, k, v):
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    s = 20.0 * tl.tanh(s / 20.0)
    return tl.softmax(tl.where(tl.iota(s, 2) >= tl.iota(s, 3), s, -tl.inf)) @ v


def inputs(rng, b, h, s, d):
    return tuple(normal(rng, b, h, s, d) for _ in range(3))


def reference(q, k, v):
    s = 20 * np.tanh(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5 / 20)
    return softmax(np.where(np.tri(s.shape[-1]) > 0, s, -np.inf)) @ v


def peer(torch, q, k, v):
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    s = 20.0 * torch.tanh(s / 20.0)
    at = torch.arange(q.shape[-2], device=q.device)
    return torch.softmax(torch.where(at[:, None] >= at, s, float("-inf")), -1) @ v


if __name__ == "__main__":
    main(globals())
