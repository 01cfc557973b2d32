"""Options of a compilation: each is obeyed, told to be ignored, or refused."""

import hashlib
import os
import warnings

import tilelang
import tilelang.language as T
from check import raises


def product(bm, bn, bk, stages, threads=128):
    @T.prim_func
    def main(A: T.Tensor((1024, 1024), "float16"), B: T.Tensor((1024, 1024), "float16"),
             C: T.Tensor((1024, 1024), "float16")):
        with T.Kernel(1024 // bn, 1024 // bm, threads=threads) as (bx, by):
            As = T.alloc_shared((bm, bk), "float16")
            Bs = T.alloc_shared((bk, bn), "float16")
            Cl = T.alloc_fragment((bm, bn), "float32")
            T.clear(Cl)
            for k in T.Pipelined(1024 // bk, num_stages=stages):
                T.copy(A[by * bm, k * bk], As)
                T.copy(B[k * bk, bx * bn], Bs)
                T.gemm(As, Bs, Cl)
            T.copy(Cl, C[by * bm, bx * bn])

    return main


def built(func, arch="sm_90a", **options):
    """(text, what was told)"""
    os.environ["TILELANG_NO_DEVICE_CODE"] = "1"
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            k = tilelang.compile(func, target="cuda -arch=" + arch, **options)
    finally:
        del os.environ["TILELANG_NO_DEVICE_CODE"]
    return k.get_kernel_source(), [str(w.message) for w in told]


def test_stages():
    """Each count of stages has a text of its own, or is told to be another one."""
    for tiles in ((128, 128, 32), (256, 128, 64, 256), (64, 64, 32)):
        for arch in ("sm_80", "sm_90a"):
            seen = {}
            for stages in (1, 2, 3, 4, 5, 8):
                text, told = built(product(*tiles[:3], stages, *tiles[3:]), arch)
                told = [m for m in told if "num_stages" in m]
                digest = hashlib.sha256(text.encode()).hexdigest()
                if digest in seen:
                    assert len(told) == 1, (tiles, arch, stages, seen[digest])
                    assert "num_stages=%d is ignored" % stages in told[0] and "stages" in told[0]
                else:
                    assert not told or stages - 1 not in seen.values(), told
                seen.setdefault(digest, stages)
            assert len(seen) >= (3 if tiles[0] == 256 else 6), (tiles, arch, seen)
    chosen = built(product(128, 128, 32, 2), pass_configs={"tl.auto_stages": True})[0]
    assert chosen == built(product(128, 128, 32, 4))[0]


def refused(target, kind, *words):
    with raises(kind, *words):
        tilelang.compile(product(64, 64, 32, 2), target=target)


def test_target_words():
    """Every word of a target's table has an effect, a warning or an error."""
    from tilelang import _core
    from tilelang.utils import determine_target

    func = product(64, 64, 32, 2)
    plain = built(func)[0]
    values = {"-mcpu=": "x86-64-v3", "-march=": "x86-64-v2", "-arch=": "sm_80", "-profile": "",
              "-keys=": "cuda,gpu", "-max_num_threads=": "64", "-max_threads_per_block=": "64",
              "-max_shared_memory_per_block=": "10000", "-thread_warp_size=": "32",
              "-model=": "h100-pcie", "-mtriple=": "amdgcn-amd-amdhsa-hcc", "-own-halves": "", "-f16": "",
              "-subgroup=": "8", "-fp16": ""}
    rows = [(name, *row) for name, doc, words in _core.target_table() for row in words]
    assert {row[1] for row in rows} == set(values)
    for name, word, fate, doc in rows:
        if name not in ("cpu", "cuda") or (name == "cpu" and word in ("-keys=", "-model=")):
            continue
        text = ("cuda -arch=sm_90a " if name == "cuda" and word != "-arch=" else name + " ") \
            + word + values[word]
        if fate == "ignored":
            assert any(word[:-1] in m and "ignored" in m for m in built(func, text[11:])[1]), word
        elif word in ("-mcpu=", "-march="):
            k = tilelang.compile(product(16, 16, 16, 1), target=text)
            assert k.get_kernel_source() != \
                tilelang.compile(product(16, 16, 16, 1), target="cpu").get_kernel_source()
        elif word == "-keys=":
            assert built(func, text[11:])[0] == plain
            refused("cuda -arch=sm_90a -keys=cpu", ValueError, "'cpu' is no key")
        elif word == "-model=":
            assert _core.target("nvidia/nvidia-h100-pcie")["units"] == 114
            assert _core.target(text)["units"] == 114
            refused("cuda -arch=sm_80 -model=h100", ValueError, "is of sm_90")
            refused("cuda -model=h99", ValueError, "no product 'h99'")
        elif word == "-thread_warp_size=":
            refused("cuda -thread_warp_size=64", ValueError, "has 32 threads")
        elif "threads" in word:
            refused(text, ValueError, "allows 64")
        else:
            assert built(func, text[11:])[0] != plain, word
    for text in ("cuda -arch=sm_zz", "cuda -arch=sm_60", "cuda -arch=sm_80a", "cuda -libs=cublas",
                 "cuda -mcpu=x86-64", "cpu -arch=sm_80", "toaster"):
        refused(text, ValueError, "target-unknown")
    refused("vulkan", NotImplementedError, "vulkan")
    refused("hip -mcpu=gfx900", ValueError, "target-unknown")
    assert determine_target({"kind": "cuda", "arch": "sm_90a", "keys": ["cuda", "gpu"]}) == \
        "cuda -arch=sm_90a -keys=cuda,gpu"


def test_instructions_by_name():
    """T.wgmma_gemm and T.tcgen05_gemm are these instructions or an error."""

    def with_gemm(gemm):
        @T.prim_func
        def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"),
                 C: T.Tensor((64, 64), "float32")):
            with T.Kernel(1, threads=128):
                a = T.alloc_shared((64, 64), "float16")
                b = T.alloc_shared((64, 64), "float16")
                c = T.alloc_fragment((64, 64), "float32")
                T.copy(A, a)
                T.copy(B, b)
                T.clear(c)
                gemm(a, b, c)
                T.wait_wgmma(0)
                T.copy(c, C)

        return main

    assert "wgmma" in built(with_gemm(T.wgmma_gemm))[0]
    with raises(NotImplementedError, "T.wgmma_gemm", "sm_90a"):
        built(with_gemm(T.wgmma_gemm), "sm_80")
    with raises(NotImplementedError, "T.tcgen05_gemm", "sm_100a"):
        built(with_gemm(lambda a, b, c: T.tcgen05_gemm(a, b, c)))


def test_machines_by_product():
    """Products of one architecture differ; a CPU has no matrix units of a GPU."""
    from tilelang.carver.arch import CPU, CUDA, has_mma_support

    seen = {}
    for name in ("cuda -arch=sm_75", "cuda -arch=sm_80", "nvidia/geforce-rtx-4070",
                 "cuda -model=geforce-rtx-4090", "cuda -arch=sm_90a", "cuda -model=h100-pcie"):
        a = CUDA(name)
        seen[name] = (a.sm_version, a.compute_max_core, a.bandwidth[0], a.l2_cache_size_bytes)
    assert len(set(seen.values())) == len(seen)
    assert seen["nvidia/geforce-rtx-4070"][:2] == (89, 46)
    assert seen["cuda -model=geforce-rtx-4090"][:2] == (89, 128)
    assert not has_mma_support(CPU("cpu"))
