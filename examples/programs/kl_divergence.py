"""The divergence of two distributions by their logits, a number for each row."""

import numpy as np
from common import main, normal, softmax

import tilelang as tl

SIZES = {"test": (30, 100), "cpu": (512, 8192), "gpu": (8192, 32768)}


@tl.tensor_program
def program(x, y):
    p, q = tl.log_softmax(x), tl.log_softmax(y)
    return tl.sum(tl.exp(p) * (p - q), axis=-1)


def inputs(rng, m, n):
    return normal(rng, m, n), normal(rng, m, n)


def reference(x, y):
    p, q = softmax(x), softmax(y)
    return (p * (np.log(p) - np.log(q))).sum(-1)


def peer(torch, x, y):
    p, q = torch.log_softmax(x, -1), torch.log_softmax(y, -1)
    return (torch.exp(p) * (p - q)).sum(-1)


if __name__ == "__main__":
    main(globals())
