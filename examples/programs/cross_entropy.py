"""The mean cross entropy of logits."""

import numpy as np
from common import main, normal, softmax

import tilelang as tl

SIZES = {"test": (30, 100), "cpu": (512, 8192), "gpu": (8192, 32768)}


@tl.tensor_program
def program(x, y):
    return -tl.mean(tl.take_along_axis(tl.log_softmax(x.astype("float32")), y[:, None], 1))


def inputs(rng, m, n):
    return normal(rng, m, n), rng.integers(0, n, m).astype("int32")


def reference(x, y):
    return -np.log(softmax(x))[np.arange(len(y)), y].mean()


def peer(torch, x, y):
    return torch.nn.functional.cross_entropy(x.float(), y.long())


if __name__ == "__main__":
    main(globals())
