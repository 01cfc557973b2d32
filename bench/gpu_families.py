"""Families of kernels that bench/gpu has no rows for, on this machine's GPU against PyTorch, cuDNN and a copy.

Usage: gpu_families.py [--only NAME,…] [--rounds N] [--list]    (from the top of the tree, PYTHONPATH=build/py)

Every row is checked first, then timed: CUDA graphs of each contender in turn, medians of rounds, inputs that
rotate over more memory than the L2 cache has.  A row that is compared with "copy" is judged by bandwidth.
What cannot be captured is timed by events, a mark (*) says so.  Rows run in a child process, a new one after every
failure: what a failed capture leaves behind spoils no other row.
"""
import argparse
import importlib.util
import json
import math
import os
import statistics
import sys
import time

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples")
FAMILIES = {}
CACHE = 160e6  # bytes that inputs rotate over


def family(make):
    FAMILIES[make.__name__.rstrip("_")] = make
    return make


def example(name, _seen={}):
    if name not in _seen:
        spec = importlib.util.spec_from_file_location("family_" + name, os.path.join(EXAMPLES, name + ".py"))
        _seen[name] = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = _seen[name]
        spec.loader.exec_module(_seen[name])
    return _seen[name]


class Row:
    """name; inputs(): tensors of one set; ours, want and peers take them; flops or moved bytes of one call."""

    def __init__(self, name, inputs, ours, want, peers=(), flops=0, moved=0, tol=2e-2):
        self.name, self.inputs, self.ours, self.want, self.peers = name, inputs, ours, want, dict(peers)
        self.flops, self.moved, self.tol = flops, moved, tol


def listed(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


def bf16(*shape, scale=1.0):
    return (torch.randn(*shape, device="cuda") * scale).to(torch.bfloat16)


def int32(x):
    return torch.tensor(x, device="cuda", dtype=torch.int32)


# ---- attention -----------------------------------------------------------------------------------

def sdpa(backend, *args, **keys):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel(getattr(SDPBackend, backend)):
        return torch.nn.functional.scaled_dot_product_attention(*args, **keys)


def attention_by_hand(q, k, v, causal):
    """Output and logarithm (base 2) of the sums, a head at a time in float32."""
    out, lse = torch.empty_like(q), torch.empty(q.shape[:3], device="cuda")
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            scores = q[b, h].float() @ k[b, h].float().T / q.shape[-1] ** 0.5
            if causal:
                scores.masked_fill_(~torch.ones_like(scores, dtype=torch.bool).tril(), -math.inf)
            lse[b, h] = torch.logsumexp(scores, -1) * 1.44269504
            out[b, h] = (torch.softmax(scores, -1) @ v[b, h].float()).to(q.dtype)
    return out, lse


@family
def attention_bwd():
    module = example("flash_attention_backward")
    for B, H, S, D, causal in ((4, 16, 4096, 128, False), (4, 16, 4096, 128, True), (4, 32, 4096, 64, False),
                               (4, 32, 4096, 64, True)):
        def inputs():
            q, k, v, do = (bf16(B, H, S, D) for _ in range(4))
            out, lse = attention_by_hand(q, k, v, causal)
            return [q, k, v, out, do, lse]

        def want(q, k, v, out, do, lse):
            """Of the rounded output that a kernel is given: with the exact one dQ of the first causal rows is another number."""
            grads = [torch.empty(q.shape, device="cuda") for _ in range(3)]
            for b in range(B):
                for h in range(H):
                    x, y, z, o, d = (t[b, h].float() for t in (q, k, v, out, do))
                    scores = x @ y.T / D**0.5
                    if causal:
                        scores.masked_fill_(~torch.ones_like(scores, dtype=torch.bool).tril(), -math.inf)
                    p = torch.softmax(scores, -1)
                    ds = p * (d @ z.T - (d * o).sum(-1, keepdim=True)) / D**0.5
                    for g, r in zip(grads, (ds @ y, ds.T @ x, p.T @ d)):
                        g[b, h] = r
            return grads

        def peer(which):
            """The operators themselves: autograd would call them from a thread of its own, which no graph captures."""
            forward, back = (getattr(torch.ops.aten, "_scaled_dot_product_%s_attention%s" % (which, x)) for x in ("", "_backward"))
            held = {}

            def call(q, k, v, out, do, lse):
                if q.data_ptr() not in held:
                    bias = (None, True) if which == "cudnn" else ()
                    held[q.data_ptr()] = forward(q, k, v, *bias, 0.0, causal, False)
                o, sums, from_q, from_k, most_q, most_k, seed, offset = held[q.data_ptr()][:8]
                if which == "cudnn":
                    return back(do, q, k, v, o, sums, seed, offset, None, from_q, from_k, most_q, most_k, 0.0, causal)
                return back(do, q, k, v, o, sums, from_q, from_k, most_q, most_k, 0.0, causal, seed, offset)

            return call

        yield Row("bf16 B%d H%d S%d D%d%s" % (B, H, S, D, " causal" if causal else ""), inputs,
                  lambda: module.flash_attention_backward(B, H, S, D, causal, "bfloat16", ahead=True), want,
                  {"cudnn": peer("cudnn"), "flash2": peer("flash")},
                  flops=10 * B * H * S * S * D / (2 if causal else 1), tol=4e-2)


@family
def mla_decode():
    module = example("mla_decode")
    for B, S, splits in ((128, 8192, 1), (16, 8192, 4), (64, 4096, 1)):
        H, D, R, page = 128, 512, 64, 64
        pages = S // page

        def inputs():
            table = torch.randperm(B * pages, device="cuda").int().view(B, pages)
            return [bf16(B, H, D), bf16(B, H, R), bf16(B * pages, page, D), bf16(B * pages, page, R), table,
                    int32([S - 7 * b % page for b in range(B)])]

        def want(q, qr, kv, kr, table, length):
            out = torch.empty_like(q)
            for b in range(B):
                c, r = (x[table[b].long()].flatten(0, 1)[: length[b]].float() for x in (kv, kr))
                p = torch.softmax((q[b].float() @ c.T + qr[b].float() @ r.T) / (D + R) ** 0.5, -1)
                out[b] = (p @ c).to(out.dtype)
            return out

        def whole(q, qr, kv, kr, table, length):  # without pages, every length the same
            k = torch.cat([kv, kr], -1).view(B, S, D + R)
            p = torch.softmax(torch.cat([q, qr], -1) @ k.transpose(1, 2) / (D + R) ** 0.5, -1)
            return p @ kv.view(B, S, D)

        yield Row("bf16 B%d H%d S%d 512+64" % (B, H, S), inputs,
                  lambda: module.mla_decode(B, H, pages, D, R, splits, "bfloat16"), want, {"torch": whole},
                  flops=2 * B * H * S * (2 * D + R), moved=2 * B * S * (D + R))


@family
def paged_decode():
    module = example("paged_attention")
    for B, S, splits in ((32, 8192, 2), (8, 8192, 8), (128, 2048, 1)):
        H, groups, D, page = 32, 4, 128, 64
        pages, heads = S // page, H // groups

        def inputs():
            table = torch.randperm(B * pages, device="cuda").int().view(B, pages)
            return [bf16(B, heads, groups, D), bf16(B * pages, page, heads, D), bf16(B * pages, page, heads, D), table,
                    int32([S - 7 * b % page for b in range(B)])]

        def want(q, k, v, table, length):
            out = torch.empty_like(q)
            for b in range(B):
                kk, vv = (x[table[b].long()].flatten(0, 1)[: length[b]].float() for x in (k, v))
                p = torch.softmax(torch.einsum("hgd,shd->hgs", q[b].float(), kk) / D**0.5, -1)
                out[b] = torch.einsum("hgs,shd->hgd", p, vv).to(out.dtype)
            return out

        yield Row("bf16 B%d H%d/%d S%d D%d" % (B, H, heads, S, D), inputs,
                  lambda: module.paged_decode(B, H, groups, D, pages, page, splits, "bfloat16"), want, {"copy": None},
                  flops=4 * B * H * S * D, moved=4 * B * S * heads * D)


@family
def varlen():
    module, plain = example("paged_attention"), example("flash_attention")
    H, D, total = 16, 128, 16384
    for lengths in ([4096] * 4, [8192, 4096, 2048, 1024, 512, 256, 128, 128]):
        start = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
        flops = sum(2 * H * D * n * n for n in lengths)

        def inputs():
            return [bf16(total, H, D), bf16(total, H, D), bf16(total, H, D), int32(start)]

        def want(q, k, v, start):
            out = torch.empty_like(q)
            for a, b in zip(start.tolist(), start.tolist()[1:]):
                one = [x[a:b].transpose(0, 1)[None] for x in (q, k, v)]
                out[a:b] = attention_by_hand(*one, True)[0][0].transpose(0, 1)
            return out

        peers = {}
        if len(set(lengths)) == 1:  # the same work without pages or offsets
            shape = (len(lengths), H, lengths[0], D)
            x = [bf16(*shape) for _ in range(3)]
            peers["cudnn"] = lambda *_: sdpa("CUDNN_ATTENTION", *x, is_causal=True)
            kernel = plain.flash_attention(*shape, causal=True, dtype="bfloat16")
            peers["plain"] = lambda *_: kernel(*x)
        yield Row("bf16 H%d D%d causal %s" % (H, D, "4 x 4096" if peers else "128 to 8192"), inputs,
                  lambda: module.varlen_prefill(len(lengths), total, max(lengths), H, 1, D, True, "bfloat16"), want, peers,
                  flops=flops)


@family
def linear_attention():
    module = example("gated_linear_attention")

    def whole(q, k, v, g, do):
        """In float32, a block of rows of the scores at a time; with gradients."""
        x = [t.float().requires_grad_() for t in (q, k, v, g)]
        sums = x[3].cumsum(-1)
        decay = (sums[..., :, None] - sums[..., None, :]).clamp(max=0).exp().tril()
        out = (x[0] @ x[1].transpose(2, 3) * decay) @ x[2]
        return out.detach(), torch.autograd.grad(out, x, do.float())

    for B, H, S, D, back in ((8, 32, 2048, 128, False), (8, 32, 2048, 128, True), (1, 32, 8192, 128, False)):
        def inputs():
            q, k, v, do = (bf16(B, H, S, D, scale=0.3) for _ in range(4))
            return [q, k, v, -torch.rand(B, H, S, device="cuda") * 0.1] + ([do] if back else [])

        def want(q, k, v, g, do=None):
            parts = []
            for b in range(B):
                for h in range(0, H, 2):
                    at = [t[b : b + 1, h : h + 2] for t in (q, k, v, g, v if do is None else do)]
                    out, grads = whole(*at)
                    parts.append([out] if do is None else list(grads))
            return [torch.cat([p[i] for p in parts], 1).view(B, H, S, *parts[0][i].shape[3:]) for i in range(len(parts[0]))]

        flops = 2 * B * H * S * (64 * 2 * D + 2 * D * D) * (3 if back else 1)
        make = module.backward if back else module.forward
        yield Row("bf16 B%d H%d S%d D%d %s" % (B, H, S, D, "backward" if back else "forward"), inputs,
                  lambda: make(B, H, S, D, D, dtype="bfloat16"), want, {"copy": None}, flops=flops,
                  moved=2 * B * H * S * D * (14 if back else 4), tol=4e-2)


@family
def delta_rule():
    """Against flash-linear-attention's kernels where that is installed; those take sequence before heads."""
    module = example("gated_delta")

    def fla(name):
        def call(q, k, v, g, beta):
            from fla.ops import gated_delta_rule, kda

            make = {"gdn": gated_delta_rule.chunk_gated_delta_rule, "kda": kda.chunk_kda}[name]
            return make(*(x.transpose(1, 2) for x in (q, k, v)), g.transpose(1, 2), beta.transpose(1, 2), scale=1.0)[0]

        return call

    for name, B, H, S, D in (("gdn", 8, 32, 2048, 128), ("gdn", 1, 32, 8192, 128), ("kda", 8, 32, 2048, 128), ("kda", 1, 32, 8192, 128)):
        def inputs():
            k = torch.nn.functional.normalize(torch.randn(B, H, S, D, device="cuda"), dim=-1).bfloat16()
            shape = (B, H, S, D) if name == "kda" else (B, H, S)
            return [bf16(B, H, S, D, scale=0.3), k, bf16(B, H, S, D, scale=0.3), -torch.rand(shape, device="cuda") * 0.1,
                    torch.rand(B, H, S, device="cuda")]

        def want(q, k, v, g, beta):
            state, out = torch.zeros(B, H, D, D, device="cuda"), torch.empty(B, H, S, D, device="cuda")
            g = g if g.dim() == 4 else g[..., None]
            for t in range(S):
                key = k[:, :, t, :, None].float()
                state *= g[:, :, t, :, None].exp()
                u = beta[:, :, t, None] * (v[:, :, t].float() - (key * state).sum(2))
                state += key * u[:, :, None]
                out[:, :, t] = (q[:, :, t, :, None].float() * state).sum(2)
            return out

        yield Row("%s bf16 B%d H%d S%d D%d forward" % (name, B, H, S, D), inputs,
                  lambda: getattr(module, name)(B, H, S, D, D, "bfloat16", cols=64 if B > 1 else 32), want,
                  {"fla": fla(name)}, flops=2 * B * H * S * (64 * 5 * D + 3 * D * D), tol=4e-2)


@family
def sparse_mla():
    module = example("sparse_mla")
    tokens, N, H, D, R, topk = 2048, 8192, 128, 512, 64, 2048

    def inputs():
        chosen = torch.rand(tokens, N, device="cuda").topk(topk, dim=1).indices.int()
        return [bf16(tokens, H, D + R), bf16(N, D + R), chosen]

    def want(q, kv, chosen):
        out = torch.empty(tokens, H, D, device="cuda")
        for t in range(tokens):
            rows = kv[chosen[t].long()].float()
            out[t] = torch.softmax(q[t].float() @ rows.T / (D + R) ** 0.5, -1) @ rows[:, :D]
        return out

    yield Row("bf16 %d of %d, H%d top %d" % (tokens, N, H, topk), inputs,
              lambda: module.sparse_mla(tokens, N, H, D, R, topk, "bfloat16"), want, {},
              flops=2 * tokens * H * topk * (2 * D + R))

    def graded():
        q, kv, chosen = inputs()
        out, lse = torch.empty(tokens, H, D, device="cuda"), torch.empty(tokens, H, device="cuda")
        for t in range(tokens):
            rows = kv[chosen[t].long()].float()
            scores = q[t].float() @ rows.T / (D + R) ** 0.5
            lse[t], out[t] = torch.logsumexp(scores, -1) * 1.44269504, torch.softmax(scores, -1) @ rows[:, :D]
        return [q, kv, chosen, out.bfloat16(), bf16(tokens, H, D), lse]

    def gradients(q, kv, chosen, out, do, lse):
        dq, dkv = torch.empty(q.shape, device="cuda"), torch.zeros(kv.shape, device="cuda")
        for t in range(tokens):
            x, rows = (v.float().requires_grad_() for v in (q[t], kv[chosen[t].long()]))
            got = torch.autograd.grad(torch.softmax(x @ rows.T / (D + R) ** 0.5, -1) @ rows[:, :D], (x, rows), do[t].float())
            dq[t] = got[0]
            dkv.index_add_(0, chosen[t].long(), got[1])
        return dq, dkv

    yield Row("backward bf16 %d of %d, H%d top %d" % (tokens, N, H, topk), graded,
              lambda: module.backward(tokens, N, H, D, R, topk, "bfloat16"), gradients, {},
              flops=2 * tokens * H * topk * (5 * D + 3 * R), tol=4e-2)
    M, heads = 4096, 64

    def eight():
        return [torch.randn(n, 128, device="cuda").to(torch.float8_e4m3fn) for n in (M * heads, N)] + [
            torch.rand(M, heads, device="cuda")]

    def logits(q, k, w):
        return torch.cat([((a.float() @ k.float().T).relu().view(-1, heads, N) * b[..., None]).sum(1)
                          for a, b in zip(q.split(64 * heads), w.split(64))])

    yield Row("indexer e4m3 %dx%d, %d heads" % (M, N, heads), eight, lambda: module.indexer(M, N, heads), logits, {},
              flops=2 * M * heads * N * 128)


@family
def nsa():
    module = example("nsa")
    H, groups, D, count, size = 64, 16, 128, 16, 64
    heads = H // groups

    def attend(q, k, v, chosen, now):
        """A token's heads over the blocks chosen for it: keys of each head of K and V by their numbers."""
        at = (chosen.long().clamp(min=0)[..., None] * size + torch.arange(size, device="cuda")).flatten(-2)  # heads, keys
        seen = (at <= now) & (chosen >= 0).repeat_interleave(size, -1)
        kk, vv = (x[at.clamp(max=x.shape[0] - 1), torch.arange(heads, device="cuda")[:, None]].float() for x in (k, v))
        scores = q.view(heads, groups, D).float() @ kk.transpose(1, 2) / D**0.5
        return torch.softmax(scores.masked_fill(~seen[:, None], -math.inf), -1) @ vv

    def choose(now, n):
        """The block of the last token, and others before it."""
        own = now // size
        rank = torch.rand(n, device="cuda").masked_fill(torch.arange(n, device="cuda") > own, -1.0)
        rank[own] = 2
        value, place = rank.topk(count)
        return place.int().masked_fill(value < 0, -1)

    S = 8192

    def inputs():
        chosen = torch.stack([choose(t, S // size) for t in range(S)])[None, :, None].expand(1, S, heads, count)
        return [bf16(1, S, H, D), bf16(1, S, heads, D), bf16(1, S, heads, D), chosen.contiguous()]

    yield Row("selected bf16 S%d H%d/%d D%d, %d of %d" % (S, H, heads, D, count, size), inputs,
              lambda: module.selected(1, S, H, groups, D, count, size, "bfloat16"),
              lambda q, k, v, c: torch.stack([attend(q[0, t], k[0], v[0], c[0, t], t).flatten(0, 1) for t in range(S)])[None],
              {}, flops=4 * S * H * count * size * D)
    B, N = 64, 32768

    def cached():
        chosen = torch.stack([choose(N - 1 - 7 * b, N // size) for b in range(B)])[:, None, None].expand(B, 1, heads, count)
        return [bf16(B, 1, H, D), bf16(B, N, heads, D), bf16(B, N, heads, D), chosen.contiguous(),
                int32([N - 7 * b for b in range(B)])]

    yield Row("decode bf16 B%d H%d/%d D%d, %d of %d" % (B, H, heads, D, count, size), cached,
              lambda: module.decode(B, N, H, groups, D, count, size, 1, "bfloat16"),
              lambda q, k, v, c, n: torch.stack([attend(q[b, 0], k[b], v[b], c[b, 0], int(n[b]) - 1).flatten(0, 1)
                                                 for b in range(B)])[:, None],
              {"copy": None}, flops=4 * B * H * count * size * D, moved=4 * B * heads * count * size * D)


# ---- products ------------------------------------------------------------------------------------

@family
def grouped_gemm():
    module = example("grouped_gemm")
    for rows, N, K, G in ((8192, 4096, 7168, 8), (8192, 7168, 2048, 16), (4096, 4096, 4096, 32)):
        start = module.starts(rows, G)

        def inputs():
            return [bf16(rows, K), bf16(G, N, K), int32(start.tolist())]

        def want(a, b, at):
            return torch.cat([a[x:y] @ b[g].T for g, (x, y) in enumerate(zip(start, start[1:]))])

        yield Row("bf16 %dx%dx%d, %d skewed groups" % (rows, N, K, G), inputs,
                  lambda: module.grouped_gemm(rows, N, K, G, "bfloat16"), want,
                  {"torch": lambda a, b, at: torch._grouped_mm(a, b.transpose(1, 2), offs=at[1:])}, flops=2 * rows * N * K)


@family
def fused_moe():
    module = example("fused_moe")
    for tokens, experts, k, width, hidden in ((4096, 8, 2, 4096, 14336), (4096, 64, 6, 2048, 1408), (1024, 128, 8, 4096, 1536)):
        rows = tokens * k

        def inputs():
            share = 0.5 ** (torch.arange(experts, device="cuda") * 8 / experts)  # few experts have most of the rows
            chosen = torch.multinomial(share.expand(tokens, experts), k).flatten()
            order = torch.argsort(chosen, stable=True)
            place = torch.empty_like(order)
            place[order] = torch.arange(rows, device="cuda")
            start = torch.searchsorted(chosen[order], torch.arange(experts + 1, device="cuda"))
            gate, up = (bf16(experts, hidden, width, scale=width**-0.5) for _ in range(2))
            return [bf16(tokens, width)[order // k], gate, up, bf16(experts, width, hidden, scale=hidden**-0.5), start.int(),
                    place.view(tokens, k).int(), torch.rand(tokens, k, device="cuda")]

        def want(x, gate, up, down, start, place, weight):
            at, each = start.tolist(), []
            for e, (a, b) in enumerate(zip(at, at[1:])):
                g, u = (x[a:b].float() @ w[e].float().T for w in (gate, up))
                each.append(torch.nn.functional.silu(g) * u @ down[e].float().T)
            return (torch.cat(each)[place.long()] * weight[..., None]).sum(1)

        def torch_(x, gate, up, down, start, place, weight):
            g, u = (torch._grouped_mm(x, w.transpose(1, 2), offs=start[1:]) for w in (gate, up))
            y = torch._grouped_mm(torch.nn.functional.silu(g) * u, down.transpose(1, 2), offs=start[1:])
            return (y[place.long()] * weight[..., None].bfloat16()).sum(1)

        yield Row("bf16 %d x %d of %d, %d-%d" % (tokens, k, experts, width, hidden), inputs,
                  lambda: module.fused_moe(tokens, experts, k, width, hidden, "bfloat16"), want, {"torch": torch_},
                  flops=6 * rows * width * hidden)


@family
def fp8_scaled():
    module, plain = example("gemm_fp8_scaled"), example("gemm")
    for M, N, K in ((4096, 4096, 4096), (4096, 7168, 2048), (8192, 4096, 7168)):
        def inputs():
            a, b = (torch.randn(n, K, device="cuda").to(torch.float8_e4m3fn) for n in (M, N))
            return [a, b, torch.rand(K // 128, M, device="cuda") + 0.5, torch.rand(N // 128, K // 128, device="cuda") + 0.5]

        def want(a, b, sa, sb):
            x = a.float() * sa.T.repeat_interleave(128, 1)
            return x @ (b.float() * sb.repeat_interleave(128, 0).repeat_interleave(128, 1)).T

        unscaled = plain.gemm_nt(M, N, K, "float8_e4m3fn", "bfloat16")
        yield Row("e4m3 %dx%dx%d" % (M, N, K), inputs, lambda: module.gemm_fp8_scaled(M, N, K, ahead=True), want,
                  {"unscaled": lambda a, b, sa, sb: unscaled(a, b),
                   "torch": lambda a, b, sa, sb: torch._scaled_mm(a, b.T, sa.T, sb.T, out_dtype=torch.bfloat16)},
                  flops=2 * M * N * K)


@family
def w4a16():
    module = example("w4a16_gemm")
    for kind, M, N, K in [(k, M, 8192, 8192) for k in ("int4", "mxfp4") for M in (1, 16, 128, 4096)] + [
            ("int4", 1, 28672, 8192), ("int4", 16, 28672, 8192)]:
        few = M <= 16
        each = 1 if kind == "int4" else 4

        def inputs():
            words = torch.randint(-2**31, 2**31 - 1, (K // 128, N, 4, 4), device="cuda", dtype=torch.int32)
            if kind == "int4":
                scales = (torch.rand(K // 128, N, device="cuda") * 0.02).half()
            else:
                scales = torch.randint(118, 123, (K // 128, N * 4), device="cuda", dtype=torch.uint8)
            return [torch.randn(M, K, device="cuda").half(), words, scales]

        def weights(words, scales):
            w = words.transpose(0, 1)  # N, K / 128, thread, 32
            codes = torch.stack([(w >> s) & 15 for e in range(4) for s in (4 * e, 4 * e + 16)], -1).view(N, K // 128, 4, 4, 4, 2)
            codes = codes.permute(0, 1, 3, 4, 2, 5).reshape(N, K)  # 32, eight, thread, pair
            if kind == "int4":
                return ((codes - 8) * scales.T.repeat_interleave(128, 1)).half()
            table = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], device="cuda")
            power = 2.0 ** (scales.view(K // 128, N, 4).transpose(0, 1).reshape(N, K // 32).float() - 127)
            return (table[codes & 7] * (1 - (codes >> 3) * 2) * power.repeat_interleave(32, 1)).half()

        full = torch.randn(N, K, device="cuda").half()
        peers = {"copy": None} if few else {"f16": lambda a, w, s: a @ full.T}
        yield Row("%s %dx%dx%d" % (kind, M, N, K), inputs,
                  lambda: module.few_rows(M, N, K, kind, splits=4 if N < 16384 else 1) if few else module.w4a16_gemm(M, N, K, kind),
                  lambda a, w, s: a.float() @ weights(w, s).float().T, peers, flops=2 * M * N * K,
                  moved=N * K // 2 + N * K // 128 * (2 if kind == "int4" else 4) + 2 * M * (N + K), tol=1e-2)


@family
def w4a8():
    module, plain = example("w4a8_gemm"), example("gemm")
    for M, N, K in ((1, 8192, 8192), (16, 8192, 8192), (128, 8192, 8192), (4096, 8192, 8192)):
        def inputs():
            words = torch.randint(-2**31, 2**31 - 1, (K // 128, N, 4, 4), device="cuda", dtype=torch.int32)
            return [torch.randint(-128, 128, (M, K), device="cuda", dtype=torch.int8), words,
                    torch.rand(M, device="cuda") * 0.01, torch.rand(N, device="cuda") * 0.01]

        def want(a, words, sa, sw):
            w = words.transpose(0, 1).transpose(2, 3)  # N, K / 128, 32, thread
            codes = torch.stack([(w >> (4 * h + 8 * b)) & 15 for h in range(2) for b in range(4)], -1)
            codes = codes.view(N, K // 128, 4, 4, 2, 4).transpose(3, 4).reshape(N, K)
            return a.float() @ (codes - (codes >> 3) * 16).float().T * sa[:, None] * sw

        eight = [torch.randn(n, K, device="cuda").to(torch.float8_e4m3fn) for n in (M, N)]
        product = plain.gemm_nt(M, N, K, "float8_e4m3fn", "bfloat16") if M > 16 else None
        yield Row("int8 %dx%dx%d" % (M, N, K), inputs, lambda: module.w4a8_gemm(M, N, K, splits=4 if M <= 16 else 1), want,
                  {"e4m3": lambda *_: product(*eight)} if product else {"copy": None}, flops=2 * M * N * K,
                  moved=N * K // 2 + M * (K + 2 * N), tol=1e-2)


@family
def conv2d():
    module = example("convolution")
    shapes = ((128, 56, 64, 64, 3, 1), (128, 28, 128, 128, 3, 1), (128, 14, 256, 256, 3, 1), (128, 56, 128, 128, 3, 2),
              (128, 56, 64, 256, 1, 1), (32, 128, 128, 128, 3, 1), (16, 64, 320, 320, 3, 1), (16, 32, 640, 640, 3, 1))
    for N, side, C, F, K, S in shapes:
        P, out = K // 2, (side + 2 * (K // 2) - K) // S + 1

        def inputs():
            return [torch.randn(N, side, side, C, device="cuda").half(), (torch.randn(K * K * C, F, device="cuda") / 8).half()]

        def peer(x, w):
            weight = w.view(K, K, C, F).permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
            return weight, x.permute(0, 3, 1, 2)

        def cudnn():
            held = {}

            def call(x, w):
                if x.data_ptr() not in held:
                    held[x.data_ptr()] = peer(x, w)
                weight, image = held[x.data_ptr()]
                return torch.nn.functional.conv2d(image, weight, stride=S, padding=P)

            return call

        def want(x, w):
            weight, image = peer(x, w)
            y = torch.nn.functional.conv2d(image.float(), weight.float(), stride=S, padding=P)
            return y.permute(0, 2, 3, 1).reshape(N * out * out, F)

        tile = dict(block_M=128, block_N=160 if F == 320 else min(F, 128), block_K=64, threads=256, out_dtype="float16")
        yield Row("f16 N%d %dx%d C%d F%d k%d s%d" % (N, side, side, C, F, K, S), inputs,
                  lambda: module.convolution_im2col(N, C, side, side, F, K, S, 1, P, "float16", **tile), want,
                  {"cudnn": cudnn()}, flops=2 * N * out * out * F * K * K * C, tol=2e-2)


# ---- memory --------------------------------------------------------------------------------------

@family
def memory():
    module = example("cross_entropy")
    for M, N in ((4096, 128256), (8192, 32000)):
        yield Row("cross entropy bf16 %dx%d" % (M, N),
                  lambda: [bf16(M, N), torch.randint(0, N, (M,), device="cuda", dtype=torch.int32)],
                  lambda: module.cross_entropy(M, N, dtype="bfloat16", threads=512 if N > 65536 else 256),
                  lambda x, y: torch.nn.functional.cross_entropy(x.float(), y.long(), reduction="none"), {"copy": None},
                  moved=2 * M * N)
    tokens, H, D = 16384, 32, 128
    rotary = example("rotary")

    def turned(x, c, s):
        a, b, c, s = x[..., : D // 2].float(), x[..., D // 2 :].float(), c[:, None].float(), s[:, None].float()
        return torch.cat([a * c - b * s, b * c + a * s], -1)

    yield Row("rotary bf16 %dx%dx%d" % (tokens, H, D),
              lambda: [bf16(tokens, H, D), bf16(tokens, D // 2), bf16(tokens, D // 2)],
              lambda: rotary.rotary(tokens, H, D, "bfloat16"), turned, {"copy": None}, moved=4 * tokens * (H + 1) * D)
    quant = example("norm_quant")
    for M, N in ((16384, 8192), (16384, 4096)):
        def want(x, r, w):
            s = x.float() + r.float()
            y = s * torch.rsqrt((s * s).mean(1, keepdim=True) + 1e-6) * w.float()
            scale = y.abs().view(M, N // 128, 128).amax(2) / 448
            return [s, y / scale.repeat_interleave(128, 1), scale.T]

        yield Row("norm and e4m3 of bf16 %dx%d" % (M, N), lambda: [bf16(M, N), bf16(M, N), bf16(N)],
                  lambda: quant.norm_quant(M, N, dtype="bfloat16"), want, {"copy": None}, moved=7 * M * N, tol=0.07)
    cumsum = example("cumsum")
    for M, N in ((16384, 4096), (4096, 16384)):
        yield Row("cumsum f32 %dx%d" % (M, N), lambda: [torch.randn(M, N // 256, 256, device="cuda")],
                  lambda: cumsum.cumsum_long(M, N, threads=256 if N <= 4096 else 512),
                  lambda x: x.double().view(M, N).cumsum(1).view(x.shape), {"copy": None}, moved=8 * M * N)


@family
def routing():
    module = example("moe_routing")
    tokens, experts, k, width = 4096, 256, 8, 7168

    def best(x):
        value, place = torch.topk(x, k, dim=1)
        return torch.softmax(value, 1), place.int()

    yield Row("gate %d of %d, top %d" % (tokens, experts, k), lambda: [torch.randn(tokens, experts, device="cuda")],
              lambda: module.gate(tokens, experts, k), best, {"torch": best}, moved=4 * tokens * (experts + 2 * k))

    def gathered(x, chosen):
        order = torch.argsort(chosen, stable=True)
        place = torch.empty_like(chosen)
        place[order] = torch.arange(tokens * k, device="cuda", dtype=torch.int32)
        start = torch.searchsorted(chosen[order], torch.arange(experts + 1, device="cuda", dtype=torch.int32)).int()
        return x[order // k], start, place

    yield Row("permute %d x %d of %d" % (tokens, k, width),
              lambda: [bf16(tokens, width), torch.randint(0, experts, (tokens * k,), device="cuda", dtype=torch.int32)],
              lambda: module.permute(tokens, experts, k, width, "bfloat16"), gathered, {"torch": gathered},
              moved=2 * tokens * (1 + k) * width)

    def summed(y, place, weight):
        return (y[place.long()] * weight[..., None].bfloat16()).sum(1)

    yield Row("unpermute %d x %d of %d" % (tokens, k, width),
              lambda: [bf16(tokens * k, width), torch.randperm(tokens * k, device="cuda").int().view(tokens, k),
                       torch.rand(tokens, k, device="cuda")],
              lambda: module.unpermute(tokens, k, width, "bfloat16"),
              lambda y, p, w: (y[p.long()].float() * w[..., None]).sum(1), {"torch": summed}, moved=2 * tokens * (1 + k) * width)


@family
def order():
    module, counted = example("sort"), example("histogram")

    def sorted_(x):
        y, place = torch.sort(x, dim=1, stable=True)
        return y, place.int()

    for M, N in ((4096, 1024), (4096, 4096)):
        yield Row("sort f32 %dx%d" % (M, N), lambda: [torch.randn(M, N, device="cuda")], lambda: module.sort(M, N), sorted_,
                  {"torch": sorted_}, moved=12 * M * N)
    N = 1 << 26
    yield Row("histogram %d of 256" % N, lambda: [torch.randint(0, 256, (N,), device="cuda", dtype=torch.int32)],
              lambda: counted.histogram(N), lambda x: torch.bincount(x, minlength=256),
              {"torch": lambda x: torch.histc(x.float(), 256, 0, 256)}, moved=4 * N)


# ---- measuring -----------------------------------------------------------------------------------

def graph_of(call, sets, n):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for s in sets:
            call(*s)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(n):
            call(*sets[i % len(sets)])
    return graph


class Calls:
    """What no graph holds: the calls one by one, replayed like one."""

    def __init__(self, call, sets, n):
        self.call, self.sets, self.n = call, sets, n
        self.replay()

    def replay(self):
        for i in range(self.n):
            self.call(*self.sets[i % len(self.sets)])


class Uncaptured(Exception):
    """A contender that could not be captured: this process is of no more use."""


def once(graph, events=[]):
    if not events:
        events += [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    events[0].record()
    graph.replay()
    events[1].record()
    torch.cuda.synchronize()
    return events[0].elapsed_time(events[1]) * 1e3


def error_of(got, want, tol):
    """In units of what is allowed: at most 1 is right."""
    worst = 0.0
    for x, y in zip(listed(got), listed(want)):
        if not y.is_floating_point():
            worst = worst if x.shape == y.shape and bool((x.long() == y.long()).all()) else math.inf
            continue
        x, y = x.double(), y.double()
        square = y * y  # rows of causal attention are of very different sizes
        size = torch.sqrt(torch.maximum(square.mean(), square.mean(-1, keepdim=True)))
        allowed = tol * (size + y.abs()) + 1e-12
        off = ((x - y).abs() / allowed).max().item() if x.shape == y.shape else math.nan
        worst = off if not off <= worst else worst
    return worst


def copy_speed(_seen=[]):
    """Bytes a microsecond that a large copy moves, the fastest of three."""
    if not _seen:
        x = torch.zeros(1 << 27, device="cuda")
        y = torch.empty_like(x)
        ours = example("copy").copy(1 << 13, 1 << 14)
        for call in (lambda a, b: b.copy_(a), lambda a, b: torch.neg(a, out=b), lambda a, b: ours(a.view(1 << 13, 1 << 14))):
            graph = graph_of(call, [[x, y]], 4)
            _seen.append(32 * x.numel() / statistics.median(once(graph) for _ in range(7)))
    return max(_seen)


def graphs_of(contenders, sets, n, loose):
    """A graph of each, of those in `loose` the calls; and what the others died of."""
    graphs, dead = {}, {}
    for k, f in contenders.items():
        try:
            if k not in loose:
                f(*sets[0])
            graphs[k] = Calls(f, sets, n) if k in loose else None
        except Exception as e:  # a peer that cannot do this row at all
            if k == "ours":
                raise
            dead[k] = " ".join(str(e).split())[:120]
    for k in [k for k, g in graphs.items() if g is None]:
        try:
            graphs[k] = graph_of(contenders[k], sets, n)
        except Exception as e:
            raise Uncaptured(k) from e
    return graphs, dead


def run(name, row, rounds, loose=()):
    began = time.time()
    kernel = row.ours()
    built = time.time() - began
    first = row.inputs()
    want = row.want(*first)
    error = error_of(kernel(*first), want, row.tol)
    nbytes = sum(x.numel() * x.element_size() for x in first)
    sets = [first] + [row.inputs() for _ in range(min(7, int(CACHE / nbytes)))]
    contenders = {"ours": kernel}
    contenders.update({k: f for k, f in row.peers.items() if f})
    guess = graph_of(kernel, sets, 2)
    once(guess)
    n = max(len(sets), min(40, int(4000 / max(once(guess) / 2, 1))))
    graphs, dead = graphs_of(contenders, sets, n, loose)
    times = {k: [] for k in graphs}
    for r in range(rounds + 1):
        for k in list(graphs)[:: 1 if r % 2 else -1]:
            t = once(graphs[k]) / n
            if r:
                times[k].append(t)
    us = {k: statistics.median(t) for k, t in times.items()}
    ours = us.pop("ours")
    if "copy" in row.peers:
        us = {"copy": row.moved / copy_speed()}
    best = min(us, key=us.get) if us else "-"
    ratio = us[best] / ours if us else None
    verdict = "ok" if error <= 1 else "WRONG (%.3g)" % error
    beside = ["%s=%.1f%s" % (k, t, "*" if k in loose else "") for k, t in us.items()] if len(us) > 1 or loose else []
    print("%-14s %-36s %9.1f %8.1f %8.0f  %-9s %6s  %5.1f s  %s" % (
        name, row.name, ours, row.flops / ours * 1e-6, row.moved / ours * 1e-3, best,
        "%.3f" % ratio if us else "-", built, "  ".join([verdict] + beside)))
    for k, why in dead.items():
        print("%-14s   no %s here: %s" % ("", k, why))
    return {"ratio": ratio, "failed": error > 1 or bool(row.peers and not us)}


# ---- processes -----------------------------------------------------------------------------------

def rows_from(name, first, loose, rounds, tell):
    """In a child: the rows of a family from `first` on, as far as nothing fails; tells of each."""
    i, title = first, "its rows"
    try:
        for i, row in enumerate(FAMILIES[name]()):
            if i < first:
                continue
            title = row.name
            tell(dict(run(name, row, rounds, loose if i == first else ()), row=i))
            torch.cuda.empty_cache()
            title = "its rows"
        tell({"end": True})
    except Uncaptured as e:
        tell({"row": i, "uncaptured": str(e)})
    except Exception as e:
        print("%-14s %-36s FAILED: %s" % (name, title, " ".join(str(e).split())[:300]))
        tell({"row": i, "ratio": None, "failed": True, "end": title == "its rows"})


def child(work):
    """What work tells, line by line, from a process of its own."""
    sys.stdout.flush()
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(read)
        status = 1
        try:
            with os.fdopen(write, "w", buffering=1) as out:
                work(lambda told: out.write(json.dumps(told) + "\n"))
            status = 0
        finally:
            sys.stdout.flush()
            os._exit(status)
    os.close(write)
    with os.fdopen(read) as told:
        lines = [json.loads(x) for x in told]
    os.waitpid(pid, 0)
    return lines


def all_rows(name, rounds):
    """Of every row of a family what was told.  A contender that was not captured is timed by events next time; after a
    failure the next row has a new process, and two that die in a row are the family's end."""
    told, at, loose, died = [], 0, [], 0
    while died < 2:
        lines = child(lambda tell: rows_from(name, at, tuple(loose), rounds, tell))
        told += [x for x in lines if "ratio" in x]
        last = lines[-1] if lines else {}
        if last.get("end"):
            break
        who = last.get("uncaptured")
        if not lines or who in loose:
            print("%-14s row %d FAILED: %s" % (name, at, "cannot be timed" if lines else "its process died"))
            told.append({"ratio": None, "failed": True})
            died = 0 if lines else died + 1
            at, loose = at + 1, []
            continue
        died = 0
        loose = (loose if last["row"] == at else []) + [who] if who else []
        at = last["row"] + (not who)
    return told


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--only", default="")
    words.add_argument("--rounds", type=int, default=7)
    words.add_argument("--list", action="store_true")
    words = words.parse_args()
    chosen = [n for n in FAMILIES if not words.only or n in words.only.split(",")]
    if words.list or not chosen:
        print("\n".join(chosen), end="\n" if chosen else "")
        return 0
    global torch
    try:
        import torch
    except ImportError:
        print("families: no torch for python3; left out")
        return 0
    sys.stdout.reconfigure(line_buffering=True)
    print("%-14s %-36s %9s %8s %8s  %-9s %6s  %s" % ("family", "row", "us", "TFLOP/s", "GB/s", "peer", "ratio", "compile"))
    sums, failed = {}, 0
    for name in chosen:
        told = all_rows(name, words.rounds)
        failed += sum(x["failed"] for x in told)
        ratios = [x["ratio"] for x in told if x["ratio"] and not x["failed"]]
        if ratios:
            sums[name] = ratios
    print()
    for name, x in sums.items():
        print("%-14s %2d rows  mean %.3f  least %.3f" % (name, len(x), statistics.geometric_mean(x), min(x)))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
