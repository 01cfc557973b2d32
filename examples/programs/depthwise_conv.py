"""A convolution of each channel by itself, with bias and SiLU."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (2, 3, 8, 9), "cpu": (4, 64, 64, 64), "gpu": (32, 256, 56, 56)}


@tl.tensor_program
def program(x, w, b):
    return tl.silu(tl.conv(x, w, padding=1, groups=x.shape[1]) + b[:, None, None])


def inputs(rng, n, c, h, v):
    return normal(rng, n, c, h, v), normal(rng, c, 1, 3, 3) / 3, normal(rng, c)


def reference(x, w, b):
    p = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    p = np.lib.stride_tricks.sliding_window_view(p, (3, 3), (2, 3))
    y = np.einsum("ncxyij,cij->ncxy", p, w[:, 0]) + b[:, None, None]
    return y / (1 + np.exp(-y))


def peer(torch, x, w, b):
    return torch.nn.functional.silu(torch.nn.functional.conv2d(x, w, b, padding=1, groups=x.shape[1]))


if __name__ == "__main__":
    main(globals())
