"""Causal attention with ALiBi: scores fall with the distance, by a slope for each head."""

import numpy as np
from common import main, normal, softmax

import tilelang as tl

SIZES = {"test": (2, 3, 40, 16), "cpu": (2, 8, 512, 64), "gpu": (4, 16, 4096, 128)}


@tl.tensor_program
def program(q, k, v, slope):
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    back = tl.iota(s, 2) - tl.iota(s, 3)
    s = s - slope[:, None, None] * back
    return tl.softmax(tl.where(back >= 0, s, -tl.inf)) @ v


def inputs(rng, b, h, s, d):
    return *(normal(rng, b, h, s, d) for _ in range(3)), (2.0 ** -np.arange(1, h + 1)).astype("float32")


def reference(q, k, v, slope):
    n = q.shape[-2]
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    back = np.arange(n)[:, None] - np.arange(n)
    return softmax(np.where(back >= 0, s - slope[:, None, None] * back, -np.inf)) @ v


def peer(torch, q, k, v, slope):
    n = q.shape[-2]
    at = torch.arange(n, device=q.device)
    back = at[:, None] - at
    bias = torch.where(back >= 0, -slope[:, None, None] * back, float("-inf")).to(q.dtype)
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)


if __name__ == "__main__":
    main(globals())
