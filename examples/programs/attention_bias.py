"""Attention with a bias on the scores of each head."""

from common import main, normal, softmax

import tilelang as tl

SIZES = {"test": (2, 3, 40, 16), "cpu": (2, 8, 512, 64), "gpu": (4, 16, 4096, 128)}


@tl.tensor_program
def program(q, k, v, bias):
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5 + bias
    return tl.softmax(s) @ v


def inputs(rng, b, h, s, d):
    return *(normal(rng, b, h, s, d) for _ in range(3)), normal(rng, h, s, s)


def reference(q, k, v, bias):
    return softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5 + bias) @ v


def peer(torch, q, k, v, bias):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)


if __name__ == "__main__":
    main(globals())
