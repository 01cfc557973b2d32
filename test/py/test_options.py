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
