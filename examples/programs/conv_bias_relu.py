"""A convolution of 3 by 3 with bias and ReLU."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (2, 3, 8, 9, 4), "cpu": (4, 64, 32, 32, 64), "gpu": (32, 256, 56, 56, 256)}


@tl.tensor_program
def program(x, w, b):
    return tl.relu(tl.conv(x, w, padding=1) + b[:, None, None])


def inputs(rng, n, c, h, v, o):
    return normal(rng, n, c, h, v), normal(rng, o, c, 3, 3) / (9 * c) ** 0.5, normal(rng, o)


def reference(x, w, b):
    p = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    p = np.lib.stride_tricks.sliding_window_view(p, (3, 3), (2, 3))
    return np.maximum(np.einsum("ncxyij,ocij->noxy", p, w) + b[:, None, None], 0)


def peer(torch, x, w, b):
    return torch.relu(torch.nn.functional.conv2d(x, w, b, padding=1))


if __name__ == "__main__":
    main(globals())
