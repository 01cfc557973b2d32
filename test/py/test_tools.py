"""Pass configs, pictures of layouts, progress, and other things to look at."""

import contextlib
import io
import os
import pty
import re
import sys
import tempfile
import warnings
import zlib
from xml.etree import ElementTree

import numpy as np

import tilelang
import tilelang.language as T
from tilelang import PassConfigKey
from tilelang.tools import plot_fragment_tv, plot_layout
from check import raises


def product(n=64):
    @T.prim_func
    def main(A: T.Tensor((n, n), "float16"), B: T.Tensor((n, n), "float16"),
             C: T.Tensor((n, n), "float32")):
        with T.Kernel(1, threads=128):
            As = T.alloc_shared((n, n), "float16")
            Bs = T.alloc_shared((n, n), "float16")
            Cl = T.alloc_fragment((n, n), "float32")
            T.copy(A, As)
            T.copy(B, Bs)
            T.clear(Cl)
            T.gemm(As, Bs, Cl)
            T.copy(Cl, C)

    return main


def built(**configs):
    os.environ["TILELANG_NO_DEVICE_CODE"] = "1"
    try:
        return tilelang.compile(product(), target="cuda -arch=sm_90a", out_idx=[2], **configs)
    finally:
        del os.environ["TILELANG_NO_DEVICE_CODE"]


def test_keys():
    key = PassConfigKey.TL_DISABLE_SAFE_MEMORY_ACCESS
    assert key == "tl.disable_safe_memory_legalize" == key.value == str(key)
    assert PassConfigKey("tl.Simplify") is PassConfigKey.TL_SIMPLIFY
    assert {PassConfigKey.TIR_NOALIAS: 1}["tirx.noalias"] == 1
    assert PassConfigKey.TL_ENABLE_PTXAS_VERBOSE_OUTPUT == "tl.enable_ptxas_verbose_output"
    with raises(AttributeError, "TL_DISABLE_WGMA", "did you mean 'TL_DISABLE_WGMMA'"):
        PassConfigKey.TL_DISABLE_WGMA
    assert not hasattr(PassConfigKey, "TL_NOTHING_OF_THE_KIND")


def test_configs_that_are_honoured():
    assert "wgmma" in built().get_kernel_source()
    without = built(pass_configs={PassConfigKey.TL_DISABLE_WGMMA: True})
    assert "wgmma" not in without.get_kernel_source()
    with raises(ValueError, "0 to 10"):
        built(pass_configs={"tl.ptxas_register_usage_level": 11})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        built(pass_configs={"tl.Simplify": {"a": 1}, "tl.device_compile_flags": ["-DX=1", "-DY"]})
    assert len(told) == 1 and "tl.Simplify is ignored" in str(told[0].message), told
    with tempfile.TemporaryDirectory() as d, tempfile.TemporaryDirectory() as here:
        said, before = io.StringIO(), os.getcwd()
        os.chdir(here)  # pictures are written to tmp/ of the folder one is in
        try:
            with contextlib.redirect_stdout(said):
                built(pass_configs={"tl.layout_visualization_enable": True, "tl.enable_dump_ir": True,
                                    PassConfigKey.TL_DUMP_IR_DIR: d, "cuda.kernels_output_dir": d})
        finally:
            os.chdir(before)
        assert "Cl inferenced layout: fragment" in said.getvalue()
        files = sorted(os.listdir(d))
        assert files[-1] == "main.cu" and len(files) > 10
        assert any(re.fullmatch(r"\d\d-lower_tiles.tile", f) for f in files), files


def test_debug_root_path():
    with tempfile.TemporaryDirectory() as d:
        tilelang.jit(lambda: product(), target="c", debug_root_path=d)()
        assert sorted(os.listdir(d)) == ["tilelang_jit_kernel_kernel.c",
                                         "tilelang_jit_program_kernel.py"]
    k = tilelang.compile(product(), target="c", out_idx=[2])
    assert k.get_kernel_source(kernel_only=False) == k.kernel_source + "\n" + k.host_source
    with raises(RuntimeError, "no SASS"):
        k.get_sass()
    with raises(ValueError, "kernel, host or both"):
        k.show_source("none")


def pixels(path):
    """Rows of bytes of a PNG."""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(data[i : i + 4], "big") for i in (16, 20))
    at, body = 8, b""
    while at < len(data):
        n, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        part = data[at + 8 : at + 8 + n]
        assert zlib.crc32(kind + part) == int.from_bytes(data[at + 8 + n : at + 12 + n], "big")
        body += part if kind == b"IDAT" else b""
        at += 12 + n
    rows = np.frombuffer(zlib.decompress(body), "uint8").reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


def test_pictures_of_layouts():
    pairs = T.Fragment((8, 8), lambda i, j: (i * 4 + j // 2, j % 2))
    with tempfile.TemporaryDirectory() as d:
        plot_layout(pairs, d, "pairs", formats="all")
        words = [t.text for t in ElementTree.parse(d + "/pairs.svg").iter() if t.text]
        assert words.count("T0") == 2 and words.count("T31") == 2 and words.count("L1") == 32
        assert len(np.unique(pixels(d + "/pairs.png").reshape(-1, 3), axis=0)) > 30
        with open(d + "/pairs.pdf", "rb") as f:
            pdf = f.read()
        assert pdf[int(pdf.split(b"startxref")[1].split()[0]) :].startswith(b"xref")
        for i, at in enumerate(re.findall(rb"(\d{10}) 00000 n", pdf)):
            assert pdf[int(at) :].startswith(b"%d 0 obj" % (i + 1))
        with open(d + "/pairs.txt") as f:
            assert "(1, 2) -> thread 5, slot 0" in f.read()
        plot_fragment_tv(pairs, d, "tv", formats="txt")
        with open(d + "/tv.txt") as f:
            assert "thread 5, slot 0: 1,2" in f.read()
        turned = T.Layout((2, 4), lambda i, j: (j, i))
        plot_layout(turned, d, "turned", formats="txt,svg", view="output")
        words = [t.text for t in ElementTree.parse(d + "/turned.svg").iter() if t.text]
        assert words[-8:] == ["0", "1", "2", "3", "4", "5", "6", "7"]
        with raises(ValueError, "gif"):
            plot_layout(turned, d, formats="gif")
        with raises(ValueError, "3 by 3"):
            plot_layout(turned, d, grid_shape=(3, 3))
        with raises(TypeError, "int"):
            plot_layout(3, d)


def test_replicas():
    rows = T.Fragment((4,), forward_thread_fn=lambda i, rep: i * 4 + rep, replicate=4)
    assert rows.replicate_size == 4 and rows.get_thread_size() == 16
    assert [rows.map_forward_thread([r, 2]) for r in range(4)] == [8, 9, 10, 11]
    swizzled = tilelang.layout.make_swizzled_layout(T.Tensor((8, 64), "float16"))
    assert swizzled.get_input_shape() == [8, 64]
    assert swizzled.get_linearized_forward_index([1, 0]) == 72
    with tempfile.TemporaryDirectory() as d:
        plot_layout(rows, d, "rows", formats="txt")
        with open(d + "/rows.txt") as f:
            assert "(2,) -> thread 8,9,10,11, slot 0" in f.read()


def test_progress_on_a_terminal():
    parent, child = pty.openpty()
    before, sys.stderr = sys.stderr, os.fdopen(child, "w")
    try:
        kernels = tilelang.par_compile([product(16), product(32)], target="c", out_idx=[2])
    finally:
        sys.stderr.close()
        sys.stderr = before
    assert len(kernels) == 2
    text = os.read(parent, 4096).decode()
    os.close(parent)
    assert "compiling [###############               ] 1/2" in text and "2/2" in text


def test_environment():
    assert tilelang.env.env is tilelang.env and tilelang.env.TILELANG_ENABLE_IR_SPAN == "1"
    said = io.StringIO()
    tilelang.env.TILELANG_PRINT_ON_COMPILATION = "1"
    try:
        with contextlib.redirect_stderr(said):
            tilelang.compile(product(16), target="c")
    finally:
        del tilelang.env.TILELANG_PRINT_ON_COMPILATION
    assert "compiling main for cpu" in said.getvalue()


def test_passes_are_shown():
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as d, contextlib.redirect_stderr(said):
        tilelang.env.TILELANG_PASS_DIFF = "both"
        tilelang.env.TILELANG_PASS_DIFF_OUTPUT = d + "/diff"
        tilelang.env.TILELANG_PASS_PROFILE = "1"
        tilelang.tools.lower_trace.enable(trace_dir=d + "/trace")
        try:
            tilelang.compile(product(16), target="c")
            with open(d + "/diff/main.html") as f:
                diff = f.read()
            with open(d + "/trace/main.html") as f:
                trace = f.read()
        finally:
            tilelang.tools.lower_trace.disable()
            for name in ("TILELANG_PASS_DIFF", "TILELANG_PASS_DIFF_OUTPUT", "TL_LOWER_TRACE",
                         "TL_LOWER_TRACE_DIR", "TILELANG_PASS_PROFILE"):
                delattr(tilelang.env, name)
    assert "lower_tiles of main_kernel" in diff and "class=d" in diff
    assert "lower_tiles of main_kernel" in trace and "class=d" not in trace
    assert "+++ lower_tiles" in said.getvalue() and "ms  lower_tiles" in said.getvalue()
    quiet = io.StringIO()
    with contextlib.redirect_stderr(quiet):
        tilelang.compile(product(16), target="c")
    assert not quiet.getvalue()
    with raises(ValueError, "terminal or both"):
        tilelang.tools.lower_trace.enable(mode="paper")


def test_backends_by_name():
    assert tilelang.compile(product(16), target="c").execution_backend == "tvm_ffi"
    assert tilelang.compile(product(16), target="c",
                            execution_backend="cython").execution_backend == "cython"
    with raises(ValueError, "Invalid execution backend"):
        tilelang.compile(product(16), target="c", execution_backend="tvm")
    with raises(ValueError, "Invalid execution backend"):
        tilelang.jit(execution_backend="x")
    later = tilelang.jit(product, execution_backend="cutedsl", target="c")
    with raises(NotImplementedError, "cutedsl"):
        later(16)
    assert tilelang.jit(product, target="c", execution_backend="nvrtc")(16).execution_backend \
        == "nvrtc"


def test_inputs_are_not_alike():
    a, b = tilelang.compile(product(16), out_idx=[2], target="c").get_profiler()._get_inputs()
    again = tilelang.compile(product(16), out_idx=[2], target="c").get_profiler()._get_inputs()
    assert not (a == b).all() and (a == again[0]).all() and (b == again[1]).all()


def test_inventory_of_two_versions():
    import subprocess
    import sys
    import tempfile
    from pathlib import Path

    tool = Path(__file__).resolve().parents[2] / "tools" / "inventory.py"
    with tempfile.TemporaryDirectory() as d:
        for version, body in (("old", "def f(a, b=1): ...\ndef gone(): ...\n"),
                              ("new", "def f(a, b=1, *, c=None): ...\nclass K:\n    def m(self, x): ...\n")):
            package = Path(d, version, "tilelang")
            (package / "language").mkdir(parents=True)
            (package / "__init__.py").write_text("from .part import *\nimport os\n")
            (package / "part.py").write_text(body)
            (package / "language" / "__init__.py").write_text("from ..part import f as g\n")

        def told(*args):
            got = subprocess.run([sys.executable, str(tool), *args], capture_output=True, text=True)
            assert got.returncode == 0, got.stderr
            return [line.split("\t") for line in got.stdout.splitlines()]

        found = told(d + "/old", d + "/new", "--here", d + "/old")
        assert ["changed", "tilelang", "f", "(a, b=1, *, c=None)", "here (a, b=1)"] in found
        assert ["gone", "tilelang", "gone", "()"] in found
        assert ["new", "tilelang", "K.m", "(x)", "missing"] in found
        assert ["changed", "tilelang.language", "g", "(a, b=1, *, c=None)", "here (a, b=1)"] in found
        assert not any(row[2] == "os" for row in found)
        assert ["tilelang.part", "gone", "()"] in told(d + "/old", "--under", "tilelang.part")


def test_audit_of_scripts():
    """tools/audit.py brings a script to its kernels without torch and without a GPU, and says what fell back."""
    import subprocess

    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    script = """
import einops_that_nobody_has
import torch
import tilelang
import tilelang.language as T

@tilelang.jit
def matmul(A, B, threads):
    M, N, K = T.const("M, N, K")
    A: T.Tensor((M, K), T.float16)
    B: T.Tensor((N, K), T.float16)
    C = T.empty((M, N), T.float32)
    with T.Kernel(T.ceildiv(N, 128), T.ceildiv(M, 128), threads=threads) as (bx, by):
        a = T.alloc_shared((128, 64), T.float16)
        b = T.alloc_shared((128, 64), T.float16)
        c = T.alloc_fragment((128, 128), T.float32)
        T.clear(c)
        for k in T.Pipelined(T.ceildiv(K, 64), num_stages=3):
            T.copy(A[by * 128, k * 64], a)
            T.copy(B[bx * 128, k * 64], b)
            T.gemm(a, b, c, transpose_B=True)
        T.copy(c, C[by * 128, bx * 128])
    return C

x = torch.randn(256, 256, device="cuda").to(torch.float16)
for threads in (128, 384):
    y = matmul(x, x, threads)
torch.testing.assert_close(y.float(), (x @ x.T).float())
here, there = einops_that_nobody_has.both(x, einops_that_nobody_has.Config(1, 2, 3, warps=4), -torch.inf)
assert einops_that_nobody_has.__file__ and not torch.compiler.is_compiling()

class Product(torch.autograd.Function):
    def forward(ctx, x):
        ctx.save_for_backward(x, y)
        return x

    def backward(ctx, gradient):
        left, right = ctx.saved_tensors
        raise ValueError("the end of %s" % (left.shape[0] + gradient.shape[0]))

Product.apply(x)
"""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "script.py"), "w") as f:
            f.write(script)
        r = subprocess.run([sys.executable, os.path.join(root, "tools", "audit.py"), folder], capture_output=True,
                           text=True)
    assert r.returncode == 0, r
    assert "matmul_kernel: nothing fell back" in r.stdout, r.stdout
    assert re.search(r"script.py:21: .slow. matrix instruction: .* by mma.sync, not by wgmma: ", r.stdout), r.stdout
    assert "(stopped: ValueError: the end of 512)" in r.stdout and "2 kernels" in r.stdout, r.stdout
