"""Derivatives of a transformer block by its input and two of its weights."""

import numpy as np
from common import main, normal, softmax

import tilelang as tl

SIZES = {"test": (1, 9, 32, 24), "cpu": (1, 256, 512, 1376), "gpu": (4, 2048, 2048, 5504)}


def block(x, n1, wqkv, wo, n2, w1, w2, w3):
    b, s, d = x.shape
    qkv = (tl.rms_norm(x, n1) @ wqkv).reshape(b, s, 3, d // 64 or 1, -1).transpose(2, 0, 3, 1, 4)
    q, k, v = qkv[0], qkv[1], qkv[2]
    t = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    o = tl.softmax(tl.where(tl.iota(t, 2) >= tl.iota(t, 3), t, -tl.inf)) @ v
    x = x + o.transpose(0, 2, 1, 3).reshape(b, s, d) @ wo
    h = tl.rms_norm(x, n2)
    return x + (tl.silu(h @ w1) * (h @ w2)) @ w3


@tl.tensor_program
def program(x, n1, wqkv, wo, n2, w1, w2, w3, g):
    def loss(x, wqkv, w3):
        return tl.sum(block(x, n1, wqkv, wo, n2, w1, w2, w3) * g)

    return tl.grad(loss, (0, 1, 2))(x, wqkv, w3)


def inputs(rng, b, s, d, n):
    w = [normal(rng, k, m) / k**0.5 for k, m in ((d, 3 * d), (d, d), (d, n), (d, n), (n, d))]
    return normal(rng, b, s, d), normal(rng, d), *w[:2], normal(rng, d), *w[2:], normal(rng, b, s, d)


def forward(x, n1, wqkv, wo, n2, w1, w2, w3):
    def norm(y, w):
        return y / np.sqrt((y * y).mean(-1, keepdims=True) + 1e-6) * w

    b, s, d = x.shape
    q, k, v = (norm(x, n1) @ wqkv).reshape(b, s, 3, d // 64 or 1, -1).transpose(2, 0, 3, 1, 4)
    t = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    o = softmax(np.where(np.tri(s) > 0, t, -np.inf)) @ v
    x = x + o.transpose(0, 2, 1, 3).reshape(b, s, d) @ wo
    h = norm(x, n2)
    g = h @ w1
    return x + (g / (1 + np.exp(-g)) * (h @ w2)) @ w3


def reference(*args):
    """Slopes along one random way for each argument: the derivatives of a test's small block."""
    rng, g = np.random.default_rng(5), args[-1]
    slopes = []
    for k in (0, 2, 7):
        way = rng.standard_normal(args[k].shape)
        up, down = ([a + sign * way if j == k else a for j, a in enumerate(args[:-1])] for sign in (1e-5, -1e-5))
        slopes.append(((forward(*up) - forward(*down)) * g).sum() / 2e-5)
    return np.array(slopes)


def seen(*got):
    """What of the result is compared."""
    rng = np.random.default_rng(5)
    return (np.array([(g * rng.standard_normal(g.shape)).sum() for g in got]),)


def rms(torch, x, w):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w


def forward_peer(torch, x, n1, wqkv, wo, n2, w1, w2, w3):
    b, s, d = x.shape
    qkv = (rms(torch, x, n1) @ wqkv).reshape(b, s, 3, d // 64 or 1, -1).permute(2, 0, 3, 1, 4)
    o = torch.nn.functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], is_causal=True)
    x = x + o.transpose(1, 2).reshape(b, s, d) @ wo
    h = rms(torch, x, n2)
    return x + (torch.nn.functional.silu(h @ w1) * (h @ w2)) @ w3


def peer(torch, x, n1, wqkv, wo, n2, w1, w2, w3, g):
    wrt = [a.detach().requires_grad_() for a in (x, wqkv, w3)]
    y = forward_peer(torch, wrt[0], n1, wrt[1], wo, n2, w1, w2, wrt[2])
    return torch.autograd.grad((y * g).sum(), wrt)


if __name__ == "__main__":
    main(globals())
