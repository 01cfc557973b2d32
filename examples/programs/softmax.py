"""Softmax of rows."""

from common import main, normal, softmax

import tilelang as tl

SIZES = {"test": (7, 130), "cpu": (1024, 4096), "gpu": (8192, 8192)}


@tl.tensor_program
def program(x):
    return tl.softmax(x)


def inputs(rng, m, n):
    return (normal(rng, m, n),)


def reference(x):
    return softmax(x)


def peer(torch, x):
    return torch.softmax(x, -1)


if __name__ == "__main__":
    main(globals())
