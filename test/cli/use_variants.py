"""use_variants.py -- which part of a bundle is called: each multiplies by its own number."""

import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import wide  # noqa: E402


def factor(n, first=0):
    room = np.ones(n + 16, "int32")
    skip = (-room.ctypes.data // 4) % 4 + first
    b = np.zeros(n, "int32")
    wide.call(room[skip : skip + n], b)
    assert (b == b[0]).all()
    return int(b[0])


print(factor(1008), factor(1001), factor(999), factor(16), factor(16, first=1))
