"""Attention: softmax(q k' / sqrt(d)) v, by online softmax."""

from common import main, normal, softmax

import tilelang as tl

SIZES = {"test": (2, 3, 40, 16), "cpu": (2, 8, 512, 64), "gpu": (4, 16, 4096, 128)}


@tl.tensor_program
def program(q, k, v):
    return tl.softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5) @ v


def inputs(rng, b, h, s, d):
    return tuple(normal(rng, b, h, s, d) for _ in range(3))


def reference(q, k, v):
    return softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5) @ v


def peer(torch, q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


if __name__ == "__main__":
    main(globals())
