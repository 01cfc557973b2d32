"""Tensor programs on machines with little shared memory: their tiles are smaller, or nothing is fused."""

import unittest
import warnings

import numpy as np
from test_tensor import close, functions, normal
from test_tensor_attention import plain, wanted, weights

import tilelang as tl

WEBGPU, AMD = "sim webgpu", "sim hip -mcpu=gfx942"  # 16 and 64 KiB


def attention(q, k, v):
    return tl.softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5) @ v


def doubled(x):
    return x.swapaxes(-1, -2) * 2


def turned(x):
    return tl.transpose(x, (0, 2, 1))


def program(fn, target, *rest):
    made = tl.tensor.TensorProgram(fn, target, *rest)

    def run(*arrays):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tl.SlowWarning)
            return made(*arrays)

    return made, run


class Room(unittest.TestCase):
    def test_attention(self):
        for target, width, kernels in ((WEBGPU, 16, 1), (WEBGPU, 64, 1), (WEBGPU, 128, 3), (AMD, 256, 1)):
            q, k, v = (normal(2, 35, width) for _ in range(3))
            made, run = program(attention, target)
            s = (q.astype("float64") @ k.swapaxes(-1, -2)) / width ** 0.5
            close(run(q, k, v), weights(s) @ v, 1e-4)
            self.assertEqual(made.explain().count("\nkernel ") + made.explain().startswith("kernel "), kernels, (target, width))

    def test_derivatives_of_attention(self):
        for width in (16, 64):
            q, k, v, g = (normal(1, 2, 37, width) for _ in range(4))
            made, run = program(plain, WEBGPU, [0, 1, 2])
            for got, want in zip(run(q, k, v, g), wanted(q, k, v, g)):
                close(got, want, 1e-4)

    def test_changes_of_layout(self):
        x = normal(2, 150, 130)
        _, run = program(doubled, WEBGPU)
        close(run(x), x.swapaxes(-1, -2) * 2, 1e-6)
        _, run = program(turned, WEBGPU)
        self.assertTrue((np.asarray(run(x)) == x.transpose(0, 2, 1)).all())


globals().update(functions(Room))

if __name__ == "__main__":
    unittest.main()
