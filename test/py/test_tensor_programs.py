"""Whole programs as people write them, against numpy in float64; transformer blocks with derivatives."""

import unittest

import numpy as np
from test_tensor import check, close, functions, normal, softmax

import tilelang as tl


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rms(x, w):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w


class Programs(unittest.TestCase):
    def test_residual_norms(self):
        def f(x, r, w, b):
            h = x + r
            return h, tl.layer_norm(h, w, b), tl.rms_norm(h, w)

        x, r, w, b = normal(40, 64), normal(40, 64), normal(64), normal(64)
        h = x + r
        m = h - h.mean(-1, keepdims=True)
        p = check(f, (h, m / np.sqrt((m * m).mean(-1, keepdims=True) + 1e-5) * w + b, rms(h, w)), x, r, w, b)
        self.assertIn("in all: 1 kernel,", p.explain())

    def test_gated_mlp(self):
        def f(x, w1, w2, w3):
            return (tl.silu(x @ w1) * (x @ w2)) @ w3

        x, w1, w2, w3 = normal(20, 32), normal(32, 48) / 6, normal(32, 48) / 6, normal(48, 32) / 7
        a = x @ w1
        p = check(f, (a * sigmoid(a) * (x @ w2)) @ w3, x, w1, w2, w3, tolerance=1e-4)
        self.assertIn("in all: 3 kernels,", p.explain())

    def test_cross_entropy(self):
        def f(x, y):
            return -tl.mean(tl.take_along_axis(tl.log_softmax(x), y[:, None], 1))

        x, y = normal(30, 100), np.arange(30, dtype="int32") * 3
        check(f, -np.log(softmax(x))[np.arange(30), y].mean(), x, y)

    def test_rotary(self):
        def f(x, c, s):
            a, b = tl.split(x, 2, axis=-1)
            return tl.concatenate([a * c - b * s, b * c + a * s], axis=-1)

        x, t = normal(2, 10, 16), normal(10, 8)
        a, b = x[..., :8], x[..., 8:]
        c, s = np.cos(t), np.sin(t)
        check(f, np.concatenate([a * c - b * s, b * c + a * s], -1), x, c, s)

    def test_quantised_linear(self):
        def f(x, q, s):
            return x @ (q.astype("float32") * s)

        x, q, s = normal(16, 32), rng_int8(32, 24), np.abs(normal(24)) / 50
        check(f, x @ (q * s), x, q, s, tolerance=1e-4)

    def test_batch_norm_and_convolution(self):
        def f(x, w, b):
            y = tl.relu(tl.conv(x, w, padding=1) + b[:, None, None])
            m, v = y.mean(axis=(0, 2, 3), keepdims=True), y.var(axis=(0, 2, 3), keepdims=True)
            return (y - m) * tl.rsqrt(v + 1e-5)

        x, w, b = normal(2, 3, 8, 8), normal(4, 3, 3, 3), normal(4)
        v = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
        y = np.maximum(np.einsum("ncxyij,ocij->noxy", v, w) + b[:, None, None], 0)
        check(f, (y - y.mean((0, 2, 3), keepdims=True)) / np.sqrt(y.var((0, 2, 3), keepdims=True) + 1e-5), x, w, b,
              tolerance=2e-4)

    def test_gating_by_the_largest(self):
        def f(x, w):
            p, at = tl.top_k(tl.softmax(x @ w), 2)
            return p / p.sum(axis=-1, keepdims=True), at

        x, w = normal(12, 16), normal(16, 8)
        p = softmax(x @ w)
        at = np.argsort(-p, -1, kind="stable")[:, :2]
        v = np.take_along_axis(p, at, 1)
        check(f, (v / v.sum(-1, keepdims=True), at), x, w, tolerance=1e-4)

    def test_cells(self):
        def lstm(x, h, c, w, u, b):
            i, f, g, o = tl.split(x @ w + h @ u + b, 4, axis=-1)
            c = tl.sigmoid(f) * c + tl.sigmoid(i) * tl.tanh(g)
            return tl.sigmoid(o) * tl.tanh(c), c

        x, h, c, w, u, b = normal(5, 8), normal(5, 6), normal(5, 6), normal(8, 24), normal(6, 24), normal(24)
        i, f, g, o = np.split(x @ w + h @ u + b, 4, -1)
        d = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        check(lstm, (sigmoid(o) * np.tanh(d), d), x, h, c, w, u, b, tolerance=1e-4)

        def mamba(s, x, dt, a, bb, cc):
            s = s * tl.exp(dt[..., None] * a) + (dt * x)[..., None] * bb[:, None]
            return tl.sum(s * cc[:, None], axis=-1), s

        s, x, dt, a = normal(3, 8, 4), normal(3, 8), np.abs(normal(3, 8)), -np.abs(normal(8, 4))
        bb, cc = normal(3, 4), normal(3, 4)
        t = s * np.exp(dt[..., None] * a) + (dt * x)[..., None] * bb[:, None]
        check(mamba, ((t * cc[:, None]).sum(-1), t), s, x, dt, a, bb, cc)

    def test_grouped_linear(self):
        def f(x, w):
            return tl.einsum("gnk,gkm->gnm", x, w)

        x, w = normal(3, 20, 16), normal(3, 16, 12)
        check(f, x @ w, x, w, tolerance=1e-4)

    def test_transformer_block(self):
        def block(x, n1, wqkv, wo, n2, w1, w2, w3):
            b, s, d = x.shape
            qkv = (tl.rms_norm(x, n1) @ wqkv).reshape(b, s, 3, 2, d // 2)
            q, k, v = (qkv[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
            t = q @ k.swapaxes(-1, -2) / (d // 2) ** 0.5
            t = tl.where(tl.iota(t, 2) >= tl.iota(t, 3), t, -tl.inf)
            o = (tl.softmax(t) @ v).transpose(0, 2, 1, 3).reshape(b, s, d)
            x = x + o @ wo
            h = tl.rms_norm(x, n2)
            return x + (tl.silu(h @ w1) * (h @ w2)) @ w3

        def reference(x, n1, wqkv, wo, n2, w1, w2, w3):
            b, s, d = x.shape
            q, k, v = np.moveaxis((rms(x, n1) @ wqkv).reshape(b, s, 3, 2, d // 2), 2, 0).transpose(0, 1, 3, 2, 4)
            t = q @ k.swapaxes(-1, -2) / (d // 2) ** 0.5
            o = softmax(np.where(np.tri(s) > 0, t, -1e30)) @ v
            x = x + o.transpose(0, 2, 1, 3).reshape(b, s, d) @ wo
            h = rms(x, n2)
            a = h @ w1
            return x + (a * sigmoid(a) * (h @ w2)) @ w3

        args = [normal(2, 12, 16), normal(16), normal(16, 48) / 4, normal(16, 16) / 4, normal(16), normal(16, 24) / 4,
                normal(16, 24) / 4, normal(24, 16) / 5]
        p = check(block, reference(*[a.astype("float64") for a in args]), *args, tolerance=2e-4)
        self.assertIn("online softmax", p.explain())

        def whole(x, n1, wqkv, wo, n2, w1, w2, w3):
            return tl.mean(block(x, n1, wqkv, wo, n2, w1, w2, w3) ** 2)

        got = tl.grad(whole, (0, 2, 7))(*args)
        exact = [a.astype("float64") for a in args]
        r = np.random.default_rng(1)
        for k, g in zip((0, 2, 7), got):
            way = r.standard_normal(args[k].shape)
            up, down = list(exact), list(exact)
            up[k], down[k] = exact[k] + 1e-5 * way, exact[k] - 1e-5 * way
            slope = ((reference(*up) ** 2).mean() - (reference(*down) ** 2).mean()) / 2e-5
            close((g * way).sum(), slope, 1e-3)


def rng_int8(*shape):
    return np.random.default_rng(3).integers(-127, 127, shape).astype("int8")


globals().update(functions(Programs))

if __name__ == "__main__":
    unittest.main()
