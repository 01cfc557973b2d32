"""use_bundle.py -- a bundle from Python, by the file that lies in it; nothing else of ours is there."""

import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import scale  # noqa: E402

a = np.arange(6, dtype="float32").reshape(2, 3)
bits = (a.view("uint32") >> 16).astype("uint16")  # bfloat16: small whole numbers lose nothing
c = np.zeros((2, 3), "float32")
scale.call(bits, 0.5, c)
assert (c == a / 2).all(), c
assert "runs here" in scale.check()


def refused(kind, text, *args):
    try:
        scale.call(*args)
    except kind as e:
        assert text in str(e), e
    else:
        raise AssertionError("it was taken: " + text)


refused(TypeError, "takes 3 arguments (A, s, C), not 2", bits, 0.5)
refused(TypeError, "argument 'C' is float64, not float32", bits, 0.5, c.astype("float64"))
refused(ValueError, "argument 'C': extent 0 is 3, not 2", bits, 0.5, np.zeros((3, 3), "float32"))
refused(TypeError, "argument 'C' has 1 dimensions, not 2", bits, 0.5, c[0])
refused(ValueError, "argument 'C' is not contiguous", bits, 0.5, np.zeros((2, 6), "float32")[:, ::2])
refused(TypeError, "argument 'A' is a int", 3, 0.5, c)
print("done")
