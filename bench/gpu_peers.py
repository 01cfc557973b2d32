"""make bench-gpu with peers from PyTorch and Triton.

Usage: gpu_peers.py LIBGPU.so [options of bench-gpu]

The measuring is done by bench/gpu in C.  For each row it asks here for peers: the same tensors, as
addresses, and how many launches; the answer is a CUDA graph of each peer's launches.
--no-torch and --no-triton leave peers out.
"""
import ctypes
import sys


class Ask(ctypes.Structure):
    _fields_ = [
        ("op", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("out", ctypes.c_char_p),
        ("d", ctypes.c_int64 * 5),
        ("nt", ctypes.c_int),
        ("causal", ctypes.c_int),
        ("ntensor", ctypes.c_int),
        ("nset", ctypes.c_int),
        ("nlaunch", ctypes.c_int),
        ("address", ctypes.POINTER(ctypes.c_ulonglong)),
        ("shape", (ctypes.c_int64 * 8) * 8),
        ("rank", ctypes.c_int * 8),
        ("dtypes", ctypes.c_char_p * 8),
    ]


HOOK = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.POINTER(Ask),
    ctypes.POINTER(ctypes.c_char_p),
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_int,
)

CODES = {  # dtype: what an array interface can say, and what torch then sees it as
    "float32": ("<f4", None),
    "tfloat32": ("<f4", None),
    "float16": ("<f2", None),
    "bfloat16": ("<i2", "bfloat16"),
    "int8": ("|i1", None),
    "int32": ("<i4", None),
    "float8_e4m3fn": ("|u1", "float8_e4m3fn"),
}


class Memory:
    """Device memory that is ours, as torch takes it."""

    def __init__(self, address, shape, code):
        self.__cuda_array_interface__ = {
            "data": (address, False),
            "shape": shape,
            "typestr": code,
            "version": 3,
        }


def tensors(torch, ask):
    sets = []
    for s in range(ask.nset):
        one = []
        for i in range(ask.ntensor):
            code, view = CODES[ask.dtypes[i].decode()]
            shape = tuple(ask.shape[i][d] for d in range(ask.rank[i]))
            t = torch.as_tensor(Memory(ask.address[s * ask.ntensor + i], shape, code), device="cuda")
            one.append(t.view(getattr(torch, view)) if view else t)
        sets.append(one)
    return sets


def graph_of(torch, calls, nlaunch):
    """One CUDA graph of nlaunch calls in turn; None if this torch gives no graph away."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls:
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph, stream=stream):
        for i in range(nlaunch):
            calls[i % len(calls)]()
    return graph


# ---- products -------------------------------------------------------------------------------------

def torch_gemm(torch, ask, sets):
    def call(t):
        a, b, c = t
        right = b.t() if ask.nt else b
        if ask.dtype == b"float8_e4m3fn":
            one = torch.ones((), device="cuda")
            return lambda: torch._scaled_mm(a, right, one, one, out_dtype=c.dtype, out=c)
        if ask.dtype == b"int8":
            return lambda: torch._int_mm(a, right, out=c)
        return lambda: torch.mm(a, right, out=c)

    return [call(t) for t in sets]


TRITON = '''
import triton
import triton.language as tl

def configs():
    return [triton.Config({"BM": m, "BN": n, "BK": k, "GROUP": 8}, num_stages=s, num_warps=w)
            for m, n, k, s, w in CONFIGS]

@triton.autotune(configs=configs(), key=["M", "N", "K"])
@triton.jit
def matmul(a, b, c, M, N, K, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           GROUP: tl.constexpr, ACC: tl.constexpr):
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    wide = GROUP * nn
    first = pid // wide * GROUP
    size = min(nm - first, GROUP)
    pm = first + pid % wide % size
    pn = pid % wide // size
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + (rm % M)[:, None] * K + rk[None, :]
    pb = b + rk[:, None] * bk + (rn % N)[None, :] * bn
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0)
        y = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0)
        acc = tl.dot(x, y, acc, out_dtype=ACC)
        pa += BK
        pb += BK * bk
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=mask)
'''


def triton_gemm(torch, ask, sets, kernel=[]):
    import os
    import tempfile

    import triton
    import triton.language as tl

    if not kernel:  # Triton reads its functions' source from a file
        path = os.path.join(tempfile.mkdtemp(), "bench_triton.py")
        table = [(128, 256, 64, 3, 8), (128, 128, 64, 4, 4), (64, 128, 64, 4, 4), (16, 64, 128, 5, 4)]
        with open(path, "w") as f:
            f.write(TRITON.replace("CONFIGS]", repr(table) + "]"))
        sys.path.insert(0, os.path.dirname(path))
        kernel.append(__import__("bench_triton").matmul)
    M, N, K = ask.d[0], ask.d[1], ask.d[2]
    acc = tl.int32 if ask.dtype == b"int8" else tl.float32

    def call(t):
        a, b, c = t
        bk, bn = (1, K) if ask.nt else (N, 1)
        grid = lambda m: (triton.cdiv(M, m["BM"]) * triton.cdiv(N, m["BN"]),)
        return lambda: kernel[0][grid](a, b, c, M, N, K, bk, bn, ACC=acc)

    return [call(t) for t in sets]


# ---- attention ------------------------------------------------------------------------------------

def torch_attention(torch, ask, sets, backend):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    which = getattr(SDPBackend, backend)
    grouped = ask.d[1] != ask.d[2]

    def call(t):
        q, k, v, _ = t

        def run():
            with sdpa_kernel(which):
                torch.nn.functional.scaled_dot_product_attention(
                    q, k, v, is_causal=bool(ask.causal), enable_gqa=grouped
                )

        return run

    return [call(t) for t in sets]


def peers_of(torch, ask, use_torch, use_triton):
    """(name, what makes its calls) of every peer that may do this row."""
    op = ask.op.decode()
    if op == "gemm":
        if use_torch:
            yield b"torch", lambda s: torch_gemm(torch, ask, s)
        if use_triton and ask.dtype != b"float8_e4m3fn":
            yield b"triton", lambda s: triton_gemm(torch, ask, s)
    if op == "attention" and use_torch:
        yield b"cudnn", lambda s: torch_attention(torch, ask, s, "CUDNN_ATTENTION")
        yield b"flash2", lambda s: torch_attention(torch, ask, s, "FLASH_ATTENTION")


def main(argv):
    library, options = argv[1], argv[2:]
    use_torch, use_triton = "--no-torch" not in options, "--no-triton" not in options
    options = [o for o in options if o not in ("--no-torch", "--no-triton")]
    import torch

    torch.cuda.init()
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        import triton  # noqa: F401
    except ImportError:
        use_triton = False
    held = []  # graphs and names of the last answer

    def answer(ask, names, graphs, most):
        held.clear()
        n = 0
        try:
            ask = ask.contents
            peers = list(peers_of(torch, ask, use_torch, use_triton))
            sets = tensors(torch, ask) if peers else []
            for name, make in peers[:most]:
                try:
                    graph = graph_of(torch, make(sets), ask.nlaunch)
                    raw = graph.raw_cuda_graph()
                except Exception as e:  # a peer that cannot do this row is no peer
                    print("  (%s: %s)" % (name.decode(), str(e).split("\n")[0][:120]))
                    continue
                held.append((graph, name, sets))
                names[n], graphs[n] = name, raw
                n += 1
            torch.cuda.synchronize()
        except Exception as e:
            print("  (peers: %s)" % str(e).split("\n")[0][:120])
        sys.stdout.flush()
        return n

    lib = ctypes.CDLL(library)
    words = [b"bench-gpu"] + [o.encode() for o in options]
    args = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    hook = HOOK(answer)
    print("torch %s, cuDNN %s%s" % (torch.__version__, torch.backends.cudnn.version(),
                                    ", triton" if use_triton else ""))
    sys.stdout.flush()
    return lib.bench_gpu(len(words), args, hook)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
