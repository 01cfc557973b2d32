"""call.py -- what a call of a compiled kernel with three CUDA tensors of torch costs the host, beside a bare
cuLaunchKernel and beside Triton; then streams, graphs and torch.compile on the GPU.

Usage: PYTHONPATH=build/py python3 bench/call.py        prints one line a figure, PASS or FAIL a check."""

import ctypes
import itertools
import statistics
import sys
import time

import torch
import torch._inductor.config

import tilelang
import tilelang.language as T

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

N = 1024


@tilelang.jit
def add(n=N):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32"), C: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 256), threads=256) as bx:
            for i in T.Parallel(256):
                C[bx * 256 + i] = A[bx * 256 + i] + B[bx * 256 + i]

    return main


if triton is not None:

    @triton.jit
    def other_add(x, y, z, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        m = at < n
        tl.store(z + at, tl.load(x + at, m) + tl.load(y + at, m), m)


def per_call(fn, n=200, rounds=15):
    """Microseconds of one call, the queue of the GPU never full: the median of the rounds."""
    for _ in range(200):
        fn()
    torch.cuda.synchronize()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(n):
            fn()
        times.append((time.perf_counter() - start) / n * 1e6)
        torch.cuda.synchronize()
    return statistics.median(times)


def bare(kernel, a, b, c):
    """cuLaunchKernel of the same machine code from a C loop of ctypes: the loop of Python is taken off."""
    cu = ctypes.CDLL("libcuda.so.1")
    module, fn = ctypes.c_void_p(), ctypes.c_void_p()
    image = kernel._core.cubin()
    assert cu.cuModuleLoadData(ctypes.byref(module), image) == 0
    assert cu.cuModuleGetFunction(ctypes.byref(fn), module, b"main_kernel") == 0
    slots = [ctypes.c_void_p(x.data_ptr()) for x in (a, b, c)]
    args = (ctypes.c_void_p * 3)(*[ctypes.addressof(s) for s in slots])
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    launch = cu.cuLaunchKernel
    launch.argtypes = [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p] * 3
    both = per_call(lambda: launch(fn, N // 256, 1, 1, 256, 1, 1, 0, stream, args, None))
    nothing = cu.cuDriverGetVersion
    version = ctypes.c_int()
    empty = per_call(lambda: nothing(ctypes.byref(version)))
    return max(both - empty, 0.1), both


def triton_call(a, b, c):
    if triton is None:
        return None
    return per_call(lambda: other_add[(N // 256,)](a, b, c, N, BLOCK=256))


def check(name, holds, note=""):
    print("%s %s %s" % ("PASS" if holds else "FAIL", name, note), flush=True)
    return holds


def overhead(kernel, a, b, c):
    """The bar: a call within 2.5 us of a bare launch and at most 0.4 of Triton's.  The three are measured in
    turn, three times, and the medians compared: a machine changes its mind about its clock."""
    made = tilelang.compile(add.get_tir(), out_idx=-1)
    pool = [tuple(torch.randn(N, device="cuda") for _ in range(3)) for _ in range(16)]
    turn = itertools.cycle(pool).__next__
    own, call, other, moving = [], [], [], []
    for _ in range(3):
        own.append(bare(kernel, a, b, c))
        call.append(per_call(lambda: kernel(a, b, c)))
        other.append(triton_call(a, b, c))
        moving.append(per_call(lambda: kernel(*turn())))
    own, with_ctypes = statistics.median(o[0] for o in own), statistics.median(o[1] for o in own)
    call = statistics.median(call)
    print("bare cuLaunchKernel %.2f us (%.2f through ctypes)" % (own, with_ctypes))
    print("kernel(a, b, c)     %.2f us, %.2f more" % (call, call - own))
    print("  other tensors     %.2f us" % statistics.median(moving))
    print("kernel(a, b) -> c   %.2f us" % per_call(lambda: made(a, b)))
    print("torch.empty         %.2f us" % per_call(lambda: torch.empty((N,), dtype=a.dtype, device=a.device)))
    ok = check("call within 2.5 us of a bare launch", call - own <= 2.5)
    if None not in other:
        other = statistics.median(other)
        print("triton              %.2f us" % other)
        ok &= check("call at most 0.4 of triton's", call <= 0.4 * other, "%.3f" % (call / other))
    return ok


def streams(kernel, a, b, c):
    """A launch goes into torch's current stream: behind a slow copy there, not into the default one."""
    side = torch.cuda.Stream()
    big = torch.randn(64 << 20, device="cuda")
    c.zero_()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        for _ in range(20):
            big = big * 1.0001
        a2 = big[:N].clone()
        kernel(a2, b, c)
        want = a2 + b
    side.synchronize()
    return check("current stream", torch.equal(c, want))


def graph(kernel, a, b, c):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        kernel(a, b, c)
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        kernel(a, b, c)
        kernel(c, b, c)
    a.copy_(torch.randn(N, device="cuda"))
    g.replay()
    torch.cuda.synchronize()
    return check("CUDA graph", torch.allclose(c, a + 2 * b))


def compiled(a, b, backend):
    made = tilelang.compile(add.get_tir(), out_idx=-1)

    def f(x, y):
        return made(x * 2, y) + 1

    name = "torch.compile by %s" % backend
    start = time.perf_counter()
    try:
        got = torch.compile(f, fullgraph=True, backend=backend)(a, b)
    except Exception as why:
        return check(name, False, str(why).splitlines()[-1][:200])
    note = "%.1f s" % (time.perf_counter() - start)
    return check(name, torch.allclose(got, a * 2 + b + 1, atol=1e-6), note)


def wrong_calls(kernel, a, b, c):
    bad = [(a.half(), b, c), (a[: N // 2], b, c), (a[::2], b, c), (a.cpu(), b, c), (a, b)]
    refused = 0
    for i, args in enumerate(bad):
        try:
            kernel(*args)
            print("wrong call %d was taken" % i)
        except (TypeError, ValueError, RuntimeError):
            refused += 1
    return check("wrong calls raise", refused == len(bad), "%d of %d" % (refused, len(bad)))


def main():
    if not torch.cuda.is_available():
        print("no GPU")
        return 0
    a, b, c = (torch.randn(N, device="cuda") for _ in range(3))
    kernel = add()
    kernel(a, b, c)
    ok = check("result", torch.equal(c, a + b))
    ok &= wrong_calls(kernel, a, b, c)
    ok &= streams(kernel, a, b, c)
    ok &= graph(kernel, a, b, c)
    ok &= compiled(a, b, "aot_eager")
    ok &= overhead(kernel, a, b, c)
    torch._inductor.config.compile_threads = 1  # no pool of processes for one small kernel
    ok &= compiled(a, b, "inductor")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
