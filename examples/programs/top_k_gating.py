"""Experts of each row: the two likeliest, their weights, and who they are."""

import numpy as np
from common import main, normal, softmax

import tilelang as tl

CHOSEN = 1  # the result that is positions, of the largest scores
SIZES = {"test": (12, 16, 8), "cpu": (2048, 512, 64), "gpu": (16384, 4096, 64)}


@tl.tensor_program
def program(x, w):
    p, at = tl.top_k(tl.softmax(x @ w), 2)
    return p / p.sum(axis=-1, keepdims=True), at


def inputs(rng, m, k, n):
    return normal(rng, m, k), normal(rng, k, n)


def reference(x, w):
    p = softmax(x @ w)
    at = np.argsort(-p, -1, kind="stable")[:, :2]
    p = np.take_along_axis(p, at, 1)
    return p / p.sum(-1, keepdims=True), at


def scores(torch, x, w):
    """What is chosen by, as logarithms: what is far below the others is 0, and equal."""
    return torch.log_softmax(x @ w, -1).clamp(min=-80)


def peer(torch, x, w):
    p, at = torch.topk(torch.softmax(x @ w, -1), 2)
    return p / p.sum(-1, keepdim=True), at.int()


if __name__ == "__main__":
    main(globals())
