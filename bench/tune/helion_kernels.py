"""The kernels of bench/tune/peers.py in Helion's language."""
import helion
import helion.language as hl
import torch


@helion.kernel(static_shapes=True)
def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    rows, depth = a.size()
    _, cols = b.size()
    c = torch.empty([rows, cols], dtype=a.dtype, device=a.device)
    for r, s in hl.tile([rows, cols]):
        total = hl.zeros([r, s], dtype=torch.float32)
        for d in hl.tile(depth):
            total = torch.addmm(total, a[r, d], b[d, s])
        c[r, s] = total.to(a.dtype)
    return c


@helion.kernel(static_shapes=True)
def softmax(x: torch.Tensor) -> torch.Tensor:
    rows, _ = x.size()
    y = torch.empty_like(x)
    for r in hl.tile(rows):
        v = x[r, :].to(torch.float32)
        e = torch.exp(v - torch.amax(v, dim=1, keepdim=True))
        y[r, :] = (e / torch.sum(e, dim=1, keepdim=True)).to(x.dtype)
    return y


@helion.kernel(static_shapes=True)
def layer_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    rows, _ = x.size()
    y = torch.empty_like(x)
    for r in hl.tile(rows):
        v = x[r, :].to(torch.float32)
        mean = torch.mean(v, dim=1, keepdim=True)
        away = v - mean
        scale = torch.rsqrt(torch.mean(away * away, dim=1, keepdim=True) + 1e-5)
        y[r, :] = (away * scale * w[None, :].to(torch.float32) + b[None, :].to(torch.float32)).to(x.dtype)
    return y


@helion.kernel(static_shapes=True)
def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    width = hl.specialize(q.size(-1))
    rows, keys = q.size(-2), k.size(-2)
    flat_q = q.reshape([-1, rows, width])
    flat_v = v.reshape([-1, keys, width])
    flat_k = k.reshape([-1, keys, width]).transpose(1, 2)
    out = torch.empty_like(flat_q)
    scale = 1.44269504 / width**0.5
    for h, r in hl.tile([flat_q.size(0), rows]):
        top = hl.full([h, r], float("-inf"), dtype=torch.float32)
        sums = torch.full_like(top, 1.0)
        total = hl.zeros([h, r, width], dtype=torch.float32)
        mine = flat_q[h, r, :]
        for s in hl.tile(keys):
            scores = torch.bmm(mine, flat_k[h, :, s])
            higher = torch.maximum(top, torch.amax(scores, -1) * scale)
            weights = torch.exp2(scores * scale - higher[:, :, None])
            fade = torch.exp2(top - higher)
            sums = sums * fade + torch.sum(weights, -1)
            total = torch.baddbmm(total * fade[:, :, None], weights.to(flat_v.dtype), flat_v[h, s, :])
            top = higher
        out[h, r, :] = (total / sums[:, :, None]).to(out.dtype)
    return out.view(q.size())
