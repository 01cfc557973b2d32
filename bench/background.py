"""Calls while kernels build: one call a millisecond, and ten new shapes asked for meanwhile.

    PYTHONPATH=build/py python3 bench/background.py [--target cuda] [--seconds 3] [--small]

Prints the median, and what p99, p99.9 and the slowest call take above it, without builds and with; then the slowest calls,
"asks" for those that asked for a new shape.  The kernel cache is a fresh folder, so that all ten are compiled."""
import argparse
import os
import tempfile
import time


def gemm(target, T, tilelang, dtype, block):
    @tilelang.jit(out_idx=[-1], target=target, background=True)
    def gemm(M, N, K):
        @T.prim_func
        def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
            with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=128) as (bx, by):
                a = T.alloc_shared((block, 32), dtype)
                b = T.alloc_shared((32, block), dtype)
                c = T.alloc_fragment((block, block), "float32")
                T.clear(c)
                for k in T.Pipelined(T.ceildiv(K, 32), num_stages=2):
                    T.copy(A[by * block, k * 32], a)
                    T.copy(B[k * 32, bx * block], b)
                    T.gemm(a, b, c)
                T.copy(c, C[by * block, bx * block])

        return main

    return gemm


def small(target, T, tilelang, dtype, block):
    @tilelang.jit(out_idx=[-1], target=target, background=True)
    def scale(M, N, K):
        @T.prim_func
        def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
            with T.Kernel(T.ceildiv(N, 128), M, threads=128) as (bx, i):
                for j in T.Parallel(128):
                    if bx * 128 + j < N:
                        C[i, bx * 128 + j] = A[i, 0] * B[0, bx * 128 + j]

        return main

    return scale


def phase(run, first, operands, made, seconds, asks):
    """[(ns, when, whether it asked)]; `made`: operands of the shapes to ask for."""
    begin, out = time.perf_counter(), []
    for i in range(int(seconds * 1000)):
        left = begin + i * 1e-3 - time.perf_counter()
        if left > 0:
            time.sleep(left)
        ask = asks and i % int(seconds * 100) == 5 and len(made) > 0
        shape, pair = made.pop() if ask else (None, operands)
        a = time.perf_counter_ns()
        (run(*shape) if ask else first)(*pair)
        out.append((time.perf_counter_ns() - a, i, ask))
    return out


def tell(name, got):
    t = sorted(r[0] / 1e3 for r in got)
    middle = t[len(t) // 2]
    print("%-18s median %.1f us; above it p99 %.1f, p99.9 %.1f, most %.1f" % (
        name, middle, t[int(len(t) * 0.99)] - middle, t[int(len(t) * 0.999)] - middle, t[-1] - middle))
    print("   slowest: " + ", ".join("%.0f%s" % (ns / 1e3, " asks" if ask else "") for ns, _, ask in sorted(got, reverse=True)[:14]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--target", default="cpu")
    p.add_argument("--seconds", type=float, default=3)
    p.add_argument("--small", action="store_true", help="a kernel of one product an element in place of the GEMM")
    o = p.parse_args()
    os.environ["TILELANG_CACHE_DIR"] = tempfile.mkdtemp(prefix="background")
    import tilelang
    import tilelang.language as T

    gpu = not o.target.startswith("cpu")
    size, block, dtype = (128, 64, "float16") if gpu else (32, 32, "float32")

    def pair(n):
        if gpu:
            import torch

            return [torch.ones(n, n, dtype=torch.float16, device="cuda") for _ in range(2)]
        import numpy as np

        return [np.ones((n, n), dtype) for _ in range(2)]

    run = (small if o.small else gemm)(o.target, T, tilelang, dtype, block)
    run(size, size, size)(*pair(size))
    tilelang.wait()
    first, operands = run(size, size, size), pair(size)
    made = [((n, n, n), pair(n)) for n in range(size + 8, size + 88, 8)]
    tell("nothing builds", phase(run, first, operands, [], o.seconds, False))
    tell("ten shapes build", phase(run, first, operands, made, o.seconds, True))
    tilelang.wait()


if __name__ == "__main__":
    main()
