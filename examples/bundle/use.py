"""The bundle of scale.py from Python: use.py DIR.  Only numpy is needed."""

import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import scale  # noqa: E402

a = np.arange(12, dtype="float32").reshape(3, 4)
c = np.empty_like(a)
scale.call(a, 0.5, c)
print(c[0, 0], c[1, 1], c[2, 3])
