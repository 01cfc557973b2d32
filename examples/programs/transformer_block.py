"""A transformer block: attention, gated MLP, norms, residuals."""

import numpy as np
from common import main, normal, softmax

import tilelang as tl

SIZES = {"test": (2, 12, 32, 24), "cpu": (1, 256, 512, 1376), "gpu": (4, 2048, 2048, 5504)}


@tl.tensor_program
def program(x, n1, wqkv, wo, n2, w1, w2, w3):
    b, s, d = x.shape
    qkv = (tl.rms_norm(x, n1) @ wqkv).reshape(b, s, 3, d // 64 or 1, -1).transpose(2, 0, 3, 1, 4)
    q, k, v = qkv[0], qkv[1], qkv[2]
    t = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    o = tl.softmax(tl.where(tl.iota(t, 2) >= tl.iota(t, 3), t, -tl.inf)) @ v
    x = x + o.transpose(0, 2, 1, 3).reshape(b, s, d) @ wo
    h = tl.rms_norm(x, n2)
    return x + (tl.silu(h @ w1) * (h @ w2)) @ w3


def inputs(rng, b, s, d, n):
    w = [normal(rng, k, m) / k**0.5 for k, m in ((d, 3 * d), (d, d), (d, n), (d, n), (n, d))]
    return normal(rng, b, s, d), normal(rng, d), *w[:2], normal(rng, d), *w[2:]


def reference(x, n1, wqkv, wo, n2, w1, w2, w3):
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


def rms(torch, x, w):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w


def peer(torch, x, n1, wqkv, wo, n2, w1, w2, w3):
    b, s, d = x.shape
    qkv = (rms(torch, x, n1) @ wqkv).reshape(b, s, 3, d // 64 or 1, -1).permute(2, 0, 3, 1, 4)
    o = torch.nn.functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], is_causal=True)
    x = x + o.transpose(1, 2).reshape(b, s, d) @ wo
    h = rms(torch, x, n2)
    return x + (torch.nn.functional.silu(h @ w1) * (h @ w2)) @ w3


if __name__ == "__main__":
    main(globals())
