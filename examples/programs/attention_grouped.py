"""Attention where several heads of q share one of k and v."""

import numpy as np
from common import main, normal, softmax

import tilelang as tl

SIZES = {"test": (2, 4, 2, 40, 16), "cpu": (2, 8, 2, 512, 64), "gpu": (4, 32, 8, 4096, 128)}


@tl.tensor_program
def program(q, k, v):
    b, h, s, d = q.shape
    g = q.reshape(b, k.shape[1], h // k.shape[1], s, d)
    p = tl.einsum("bgrqd,bgkd->bgrqk", g, k) / d**0.5
    return tl.einsum("bgrqk,bgkd->bgrqd", tl.softmax(p), v).reshape(b, h, s, d)


def inputs(rng, b, h, g, s, d):
    return normal(rng, b, h, s, d), normal(rng, b, g, s, d), normal(rng, b, g, s, d)


def reference(q, k, v):
    k, v = (np.repeat(a, q.shape[1] // k.shape[1], 1) for a in (k, v))
    return softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5) @ v


def peer(torch, q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)


if __name__ == "__main__":
    main(globals())
