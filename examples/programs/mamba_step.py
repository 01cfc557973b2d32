"""One step of a selective state space: the state, and what is read of it."""

import numpy as np
from common import main, normal

import tilelang as tl

SIZES = {"test": (3, 8, 4), "cpu": (64, 2048, 16), "gpu": (512, 4096, 16)}


@tl.tensor_program
def program(s, x, dt, a, b, c):
    s = s * tl.exp(dt[..., None] * a) + (dt * x)[..., None] * b[:, None]
    return tl.sum(s * c[:, None], axis=-1), s


def inputs(rng, m, d, n):
    return (normal(rng, m, d, n), normal(rng, m, d), np.abs(normal(rng, m, d)) / 8, -np.abs(normal(rng, d, n)),
            normal(rng, m, n), normal(rng, m, n))


def reference(s, x, dt, a, b, c):
    s = s * np.exp(dt[..., None] * a) + (dt * x)[..., None] * b[:, None]
    return (s * c[:, None]).sum(-1), s


def peer(torch, s, x, dt, a, b, c):
    s = s * torch.exp(dt[..., None] * a) + (dt * x)[..., None] * b[:, None]
    return (s * c[:, None]).sum(-1), s


if __name__ == "__main__":
    main(globals())
