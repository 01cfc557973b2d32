"""twin.py -- the text twin sees what is wrong with a text: tl verify --text on texts with one fault each.

    python3 twin.py TL

A case is a kernel of this file, an architecture, an edit of the emitted text, and what must be said: a message's
tag, or "FAIL" for wrong numbers.  An edit that finds nothing to change is a failure too.  As emitted, every
kernel passes.  "N passed, M failed" comes last."""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

KERNELS = '''
import tilelang
import tilelang.language as T


@tilelang.jit
def add(N=100):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 64), threads=64) as bx:
            for i in T.Parallel(64):
                C[bx * 64 + i] = A[bx * 64 + i] + B[bx * 64 + i]

    return main


@tilelang.jit
def checked(N=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            tx = T.get_thread_binding()
            T.device_assert(A[tx] < 100, "a large number")
            C[tx] = A[tx]

    return main


@tilelang.jit
def fails(N=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            tx = T.get_thread_binding()
            T.device_assert(A[tx] < -100, "a small number")
            C[tx] = A[tx]

    return main


@tilelang.jit
def below(N=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((N,), "uint32")):
        with T.Kernel(1, threads=64) as bx:
            tx = T.get_thread_binding()
            x = T.alloc_local((1,), "float32")
            x[0] = A[tx] - 5
            C[tx] = T.cast(T.cast(x[0], "int32"), "uint32")

    return main


@tilelang.jit
def gemm(M=128, N=64, K=128, stages=2):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(M, 64), threads=128) as bx:
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((32, N), "float16")
            c = T.alloc_fragment((64, N), "float32")
            T.clear(c)
            for k in T.Pipelined(K // 32, num_stages=stages):
                T.copy(A[bx * 64, k * 32], a)
                T.copy(B[k * 32, 0], b)
                T.gemm(a, b, c)
            T.copy(c, C[bx * 64, 0])

    return main


@tilelang.jit
def chain(M=64, N=64, K=128):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), V: T.Tensor((N, 64), "float16"), C: T.Tensor((M, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((M, 64), "float16")
            b = T.alloc_shared((64, N), "float16")
            v = T.alloc_shared((N, 64), "float16")
            x = T.alloc_fragment((M, N), "float32")
            p = T.alloc_fragment((M, N), "float16")
            c = T.alloc_fragment((M, 64), "float32")
            T.clear(c)
            T.copy(V, v)
            for k in T.Pipelined(K // 64, num_stages=1):
                T.copy(A[0, k * 64], a)
                T.copy(B[k * 64, 0], b)
                T.gemm(a, b, x, clear_accum=True)
                T.copy(x, p)
                T.gemm(p, v, c)
            T.copy(c, C)

    return main


@tilelang.jit
def hinted(M=64, N=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((M, N), "float32")
            T.copy(A, a, eviction_policy="evict_first")
            for i, j in T.Parallel(M, N):
                C[i, j] = a[i, j] + 1

    return main


@tilelang.jit
def halves(N=128):
    @T.prim_func
    def main(A: T.Tensor((N,), "float16"), B: T.Tensor((N,), "float16"), C: T.Tensor((N,), "float16")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((N,), "float16")
            b = T.alloc_shared((N,), "float16")
            c = T.alloc_fragment((N,), "float16")
            T.copy(A, a)
            T.copy(B, b)
            for i in T.Parallel(N):
                c[i] = T.if_then_else(a[i] * b[i] > 0, 1, 0) * b[i]
            T.copy(c, C)

    return main


@tilelang.jit
def bytes_(N=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "int8"), B: T.Tensor((N,), "int8"), C: T.Tensor((N,), "int32"), D: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(N):
                C[i] = T.cast(T.abs(A[i]), "int32")
                D[i] = T.cast(A[i] // B[i], "int32")

    return main


@tilelang.jit
def turn(M=64, N=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), C: T.Tensor((N, M), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, N), "float32")
            T.copy(A, a)
            for i, j in T.Parallel(N, M):
                C[i, j] = a[j, i]

    return main


@tilelang.jit
def rows(M=32, N=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), C: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_fragment((M, N), "float32")
            c = T.alloc_fragment((M,), "float32")
            T.copy(A, a)
            T.reduce_sum(a, c, dim=1)
            T.copy(c, C)

    return main


@tilelang.jit
def told(N=8):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), C: T.Tensor((N,), "int32")):
        with T.Kernel(N, threads=1) as bx:
            v = T.atomic_load(A[bx], memory_order="acquire")
            T.atomic_store(C[N - 1 - bx], v, memory_order="release")
            T.sync_grid()
            C[bx] += 1

    return main
'''

WAITED = "tl_wgmma_commit();\n            tl_wgmma_wait<0>();\n            tl_settled<32>(c);"
CASES = [
    ("add", "sm_80", None, None, "PASS"),
    ("add", "sm_80", "A[bx", "A[4 + bx", "[twin-bounds]"),
    ("add", "sm_80", "A[bx", "A[100000 + bx", "[twin-bounds]"),
    ("add", "sm_80", "A[bx", "A[bx - 2000", "[twin-bounds]"),
    ("add", "sm_80", "C[bx", "C[28 + bx", "[twin-bounds]"),
    ("add", "sm_80", " + B[", " - B[", "FAIL"),
    ("add", "sm_80", "{\n    const int32_t bx", '{\n    asm volatile("nosuch.b32 %0;" : : "r"(1));\n    const int32_t bx', "[twin-meaning]"),
    ("add", "sm_80", "const int32_t tx = ", "const nosuch tx = ", "[twin-compiler]"),
    ("add", "sm_80", "const int32_t tx = threadIdx.x;", "const int32_t tx = threadIdx.x;\n    while (1) __syncwarp(0x00ffffffu & ~(1u << tx));", "[twin-fault]"),
    ("add", "sm_80", "__launch_bounds__(64", "__launch_bounds__(32", "[twin-fault]"),
    ("below", "sm_80", None, None, "PASS"),
    ("below", "sm_80", "(uint32_t)tl_f32_to_int32(x[0])", "(uint32_t)x[0]", "[twin-fault]"),
    ("below", "sm_80", "x[0] = A[tx]", "x[0] = A[tx];\n    x[0] = __ldg(&x[0])", "[twin-fault]"),
    ("below", "sm_80", "A[tx]", "__ldg(&A[tx])", "PASS"),
    ("checked", "sm_80", None, None, "PASS"),
    ("checked", "sm_80", " < 1e+02f", " < -1e+02f", "[twin-assert]"),
    ("fails", "sm_80", None, None, "k.py:%d: assertion failed: a small number" % (KERNELS.split('"a small number"')[0].count("\n") + 1)),
    ("add", "sm_80", "const int32_t tx = threadIdx.x;", "const int32_t tx = threadIdx.x;\n    while (*(volatile const float *)A == A[0])\n        ;", "[twin-deadlock]"),
    ("gemm", "sm_80", None, None, "PASS"),
    ("gemm", "sm_80", "tl_cp_async_wait<0>();", "", "FAIL"),
    ("gemm", "sm_80", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16", "FAIL"),
    ("gemm", "sm_80", "{%4, %5, %6, %7}", "{%5, %4, %6, %7}", "FAIL"),
    ("gemm", "sm_80", "tl_shared_at(a, ", "tl_shared_at(a, 2 + ", "[twin-fault]"),
    ("gemm", "sm_80", "tl_shared_at(a, ", "tl_shared_at(a, 262144 + ", "[twin-bounds]"),
    ("gemm", "sm_90a", None, None, "PASS"),
    ("gemm", "sm_90a", "tl_wgmma_wait<0>();", "", "FAIL"),
    ("gemm", "sm_90a", "tl_settled<32>(c);", "", "[twin-fault]"),
    ("gemm", "sm_90a", "tl_settled<32>(c);", "tl_settled<31>(c);", "[twin-fault]"),
    ("gemm", "sm_90a", "tl_settled<32>(c);", "tl_settled<33>(c);", "[twin-fault]"),
    ("gemm", "sm_80", "tl_cp_async<16>(", "tl_cp_async<16>((uint16_t)", "[twin-bounds]"),
    ("told", "sm_80", None, None, "PASS"),
    ("told", "sm_80", "__threadfence();\n    *", "*", "[twin-fault]"),
    ("told", "sm_80", "__threadfence();", "", "[twin-fault]"),
    ("told", "sm_80", "tl_grid_sync(tl_grid);", "atomicAdd(tl_grid, 1);\n    while (*(volatile uint32_t *)tl_grid < gridDim.x)\n        ;", "[twin-fault]"),
    ("gemm", "sm_90a", "], 16, 512, 2)", "], 16, 512, 1)", "FAIL"),
    ("gemm", "sm_90a", "], 16, 512, 2)", "], 16, 256, 2)", "FAIL"),
    ("gemm", "sm_90a", ", 1);\n", ", 2);\n", "[twin-deadlock]"),
    ("gemm", "sm_90a", "tl_fence_mbar_init();\n    }\n    __syncthreads();", "tl_fence_mbar_init();\n    }", "[twin-fault]"),
    ("chain", "sm_90a", None, None, "PASS"),
    ("chain", "sm_90a", WAITED, WAITED.replace("tl_wgmma_wait", "p[3] = 7;\n            tl_wgmma_wait"), "[twin-fault]"),
    ("chain", "sm_90a", WAITED, WAITED.replace("tl_wgmma_wait", "tl_pack_f16(1, 2);\n            tl_wgmma_wait"), "[twin-fault]"),
    ("chain", "sm_90a", WAITED, WAITED.replace("tl_wgmma_wait", "tl_pack_f16(1, 2);\n            tl_wgmma_wait") + "\n            tl_settled<16>((uint32_t *)p);", "PASS"),
    ("chain", "sm_90a", "tl_settled<32>(c);", "tl_settled<32>(c), tl_settled<1>((uint32_t *)&phase_1);", "[twin-fault]"),
    ("chain", "sm_90a", "tl_wgmma_fence();", "", "[twin-fault]"),
    ("chain", "sm_90a", "tl_wgmma_fence();\n            tl_wgmma_m64n64k16_f32_f16_f16_rs", "tl_wgmma_m64n64k16_f32_f16_f16_rs", "[twin-fault]"),
    ("chain", "sm_90a", "tl_wgmma_fence();\n            tl_wgmma_m64n64k16_f32_f16_f16_rs", "tl_wgmma_fence();\n            p[0] = 1;\n            tl_wgmma_m64n64k16_f32_f16_f16_rs", "[twin-fault]"),
    ("hinted", "sm_90a", None, None, "PASS"),
    ("hinted", "sm_90a", "tl_evict_first()", "(uint32_t)(tl_evict_first() >> 32)", "[twin-fault]"),
    ("turn", "sm_80", None, None, "PASS"),
    ("turn", "sm_80", "__syncthreads();", "", "FAIL"),
    ("turn", "sm_90a", None, None, "PASS"),
    ("turn", "sm_90a", "tl_mbar_wait(&", "if (0) tl_mbar_wait(&", "FAIL"),
    ("rows", "sm_80", None, None, "PASS"),
    ("rows", "sm_80", "__shfl_xor_sync(0xffffffffu", "__shfl_xor_sync(0xffffu", "[twin-fault]"),
    ("add", "gfx942", " + B[", " - B[", "FAIL"),
    ("gemm", "gfx942", "tl_mfma(f32_16x16x16f16)", "tl_mfma(f32_16x16x16bf16_1k)", "FAIL"),
    ("gemm", "gfx942", "tl_mfma(f32_16x16x16f16)", "tl_mfma(f32_16x16x32_f16)", "[twin-meaning]"),
    ("gemm", "gfx942", "        __syncthreads();\n", "", "FAIL"),
    ("told", "gfx942", "__threadfence();", "", "[twin-fault]"),
    ("rows", "gfx942", None, None, "PASS"),
    ("rows", "gfx942", "__shfl_xor_sync(0xffffffffu, ", "__shfl_xor_sync(0xffffffffu, 2 + ", "FAIL"),
]


def target(arch):
    return ("hip -mcpu=" if arch.startswith("gfx") else "cuda -arch=") + arch


# Emitters' faults that the simulator did not see: text, inputs, tolerance.
ARITHMETIC = [
    ("halves", {"A": (1e-4, "float16"), "B": (1e-4, "float16")}, 1e-6),
    ("bytes_", {"A": (-128, "int8"), "B": (-1, "int8")}, 0),
]


def arithmetic(tl, folder, func, inputs, tol, arch):
    words = [tl, "verify", "%s/k.py:%s" % (folder, func), "-q", "--text", "--sim", "--target", target(arch)]
    for name, (value, dtype) in inputs.items():
        path = "%s/%s-%s-%s.npy" % (folder, func, arch, name)
        np.save(path, np.full(128 if func == "halves" else 64, value, dtype))
        words += ["--in", "%s=%s" % (name, path)]
    code, out, said = run(words + (["--tol", str(tol)] if tol else []))
    return None if code == 0 else out + said


def run(words, **keys):
    p = subprocess.run(words, capture_output=True, text=True, timeout=120, errors="replace", **keys)
    return p.returncode, p.stdout, p.stderr


def one(tl, folder, number, case):
    func, arch, old, new, want = case
    what = ["%s/k.py:%s" % (folder, func), "-q", "--target", target(arch)]
    code, text, said = run([tl, "build", *what, "--source"])
    if code:
        return "no text: " + said
    words = [tl, "verify", *what, "--text"]
    if old is not None:
        head, mark, body = text.partition("/* ---- kernels ---- */")
        if old not in body:
            return "nothing to change in:\n" + body
        path = "%s/%d.cu" % (folder, number)
        with open(path, "w") as f:
            f.write(head + mark + body.replace(old, new))
        words += ["--source", path]
    code, out, said = run(words)
    ok = {"PASS": code == 0 and "VERIFY: PASS" in out, "FAIL": code == 1 and "VERIFY: FAIL" in out}
    if ok.get(want, code in (1, 3) and want in out + said):
        return None
    return "%s expected, not: exit %d %s%s" % (want, code, out, said)


def main():
    tl = os.path.abspath(sys.argv[1])
    failed = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        with open(folder + "/k.py", "w") as f:
            f.write(KERNELS)
        code, out, said = run([tl, "verify", folder + "/k.py:add", "--text"])
        cases = list(enumerate(CASES))
        results = list(pool.map(lambda c: (c[1], one(tl, folder, c[0], c[1])), cases))
        results.append((("add", "cpu", None, None, "[twin-target]"), None if code and "[twin-target]" in said else said))
        for func, inputs, tol in ARITHMETIC:
            for arch in ("sm_80", "sm_90a"):
                results.append(((func, arch, None, None, "PASS"), arithmetic(tl, folder, func, inputs, tol, arch)))
        for case, why in results:
            if why:
                failed += 1
                print("FAIL %s on %s: %r -> %r: %s" % (case[0], case[1], case[2], case[3], why))
    print("%d passed, %d failed" % (len(results) - failed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
