"""Some of the programs of examples/programs in Helion's language, by name: a second peer for bench/programs.py."""
import helion
import helion.language as hl
import torch


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
def layer_norm(x: torch.Tensor, r: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows, _ = x.size()
    y, h = torch.empty_like(x), torch.empty_like(x)
    for i in hl.tile(rows):
        s = x[i, :].to(torch.float32) + r[i, :].to(torch.float32)
        h[i, :] = s.to(x.dtype)
        away = s - torch.mean(s, dim=1, keepdim=True)
        scale = torch.rsqrt(torch.mean(away * away, dim=1, keepdim=True) + 1e-5)
        y[i, :] = (away * scale * w[None, :].to(torch.float32) + b[None, :].to(torch.float32)).to(x.dtype)
    return y, h


@helion.kernel(static_shapes=True)
def rms_norm(x: torch.Tensor, r: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows, _ = x.size()
    y, h = torch.empty_like(x), torch.empty_like(x)
    for i in hl.tile(rows):
        s = x[i, :].to(torch.float32) + r[i, :].to(torch.float32)
        h[i, :] = s.to(x.dtype)
        scale = torch.rsqrt(torch.mean(s * s, dim=1, keepdim=True) + 1e-6)
        y[i, :] = (s * scale * w[None, :].to(torch.float32)).to(x.dtype)
    return y, h


@helion.kernel(static_shapes=True)
def bias_gelu(x: torch.Tensor, b: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
    rows, columns = x.size()
    y = torch.empty_like(x)
    for i, j in hl.tile([rows, columns]):
        h = x[i, j].to(torch.float32) + b[j].to(torch.float32)[None, :]
        g = h * 0.5 * (1.0 + torch.erf(h * 0.7071067811865476))
        y[i, j] = (g * 0.5 + r[i, j].to(torch.float32)).to(x.dtype)
    return y


@helion.kernel(static_shapes=True)
def linear_gelu(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    rows, depth = x.size()
    _, columns = w.size()
    y = torch.empty([rows, columns], dtype=x.dtype, device=x.device)
    for i, j in hl.tile([rows, columns]):
        total = hl.zeros([i, j], dtype=torch.float32)
        for k in hl.tile(depth):
            total = torch.addmm(total, x[i, k], w[k, j])
        h = total + b[j].to(torch.float32)[None, :]
        y[i, j] = (h * torch.sigmoid(1.702 * h)).to(x.dtype)
    return y
