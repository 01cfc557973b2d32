"""The package around kernels: profiler, tuning, lowering, arrays, threads, processes."""

import os
import subprocess
import sys
import threading

import numpy as np

import tilelang
import tilelang.language as T
from check import near, raises, randn, settings


def matmul_func(M=32, N=32, K=32, block=16, dtype="float32", threads=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=threads) as (bx, by):
            As = T.alloc_shared((block, block), dtype)
            Bs = T.alloc_shared((block, block), dtype)
            Cl = T.alloc_fragment((block, block), "float32")
            T.clear(Cl)
            for k in T.Pipelined(T.ceildiv(K, block), num_stages=2):
                T.copy(A[by * block, k * block], As)
                T.copy(B[k * block, bx * block], Bs)
                T.gemm(As, Bs, Cl)
            T.copy(Cl, C[by * block, bx * block])

    return main


def test_jit_styles():
    @tilelang.jit
    def bare(n):
        return matmul_func(n, n, n)

    @tilelang.jit(out_idx=-1, target="c", execution_backend="cython", target_host="c",
                  verbose=False, pass_configs={"tl.disable_tma_lower": True}, compile_flags="-O2")
    def all_arguments(n, block=16):
        return matmul_func(n, n, n, block)

    x = randn(32, 32)
    near(all_arguments(32)(x, x), x @ x)
    assert all_arguments(32) is all_arguments(32)
    assert all_arguments(32) is not all_arguments(32, block=8)
    assert bare.mode == "lazy" and "main" in str(bare.get_tir(32))
    with raises(ValueError, "pass config"):
        tilelang.compile(matmul_func(), target="cpu", pass_configs={"speed": 1})


def test_texts():
    k = tilelang.compile(matmul_func(), out_idx=[2], target="cpu")
    assert "main" in k.get_kernel_source() and k.kernel_source == k.get_kernel_source()
    assert "main" in k.get_host_source()
    assert k.get_layout("As").startswith("As")
    assert [p.name for p in k.params] == ["A", "B", "C"] and k.params[2].is_output
    a = tilelang.lower(matmul_func(), target="cuda -arch=sm_80")
    assert "__global__" in a.kernel_source


def test_simulated_gpu():
    x, y = randn(32, 32).astype("float16"), randn(32, 32, seed=1).astype("float16")
    f = matmul_func(dtype="float16", threads=128)
    k = tilelang.compile(f, out_idx=[2], target="sim -arch=sm_80")
    near(k(x, y), x.astype("f4") @ y.astype("f4"), 1e-2)
    assert "__global__" in k.get_kernel_source()


def test_par_compile():
    ks = tilelang.par_compile([matmul_func(n, n, n) for n in (16, 32, 48)], out_idx=[2],
                              target="cpu")
    for n, k in zip((16, 32, 48), ks):
        x = randn(n, n)
        near(k(x, x), x @ x)


def test_profiler():
    k = tilelang.compile(matmul_func(), out_idx=[2], target="cpu")
    p = k.get_profiler(tilelang.TensorSupplyType.Normal)
    p.assert_allclose(lambda a, b: a @ b, atol=1e-3, rtol=1e-3)
    with raises(AssertionError, "differ"):
        p.assert_allclose(lambda a, b: a @ b + 1)
    assert p.do_bench(n_warmup=1, n_repeat=3) > 0
    assert len(p.do_bench(n_warmup=1, n_repeat=3, quantiles=[0.2, 0.8])) == 2
    p.assert_consistent(repeat=2)
    assert tilelang.profiler.do_bench(lambda: None, _n_warmup=1, _n_repeat=2) >= 0


def test_autotune():
    seen = []

    @tilelang.autotune(configs=[{"block": 8}, {"block": 16}, {"block": 7777777}], warmup=1, rep=2)
    @tilelang.jit(out_idx=[2], target="cpu")
    def tuned(n, block=16):
        seen.append(block)
        return matmul_func(n, n, n, block)

    os.environ["TILELANG_AUTO_TUNING_DISABLE_CACHE"] = "1"
    try:
        k = tuned(32)
        assert k.config["block"] in (8, 16) and k.latency > 0
        x = randn(32, 32)
        near(k(x, x), x @ x)
        n = len(seen)
        assert tuned(32) is k and len(seen) == n
        # The kernel of the winning configuration is kept, and knows that it won.
        assert tuned(32, block=8).config in (None, {"block": 8})
        with raises(ValueError, "Unused keys"):
            tilelang.autotune(configs=[{"blocks": 8}])(tuned.jit_impl)(32)
        with raises(RuntimeError, "no configuration"):
            tilelang.autotune(configs=[{"block": 7777777}])(tuned.jit_impl)(32)
        r = (
            tilelang.autotuner.AutoTuner.from_kernel(
                lambda block: matmul_func(32, 32, 32, block), [{"block": 16}, {"block": 32}]
            )
            .set_compile_args(out_idx=[2], target="cpu")
            .set_profile_args(warmup=1, rep=1, ref_prog=lambda a, b: a @ b)
            .run(warmup=1, rep=1)
        )
        assert r.config["block"] in (16, 32) and r.kernel.latency == r.latency
    finally:
        del os.environ["TILELANG_AUTO_TUNING_DISABLE_CACHE"]


def test_dlpack_and_cuda_interface():
    class Dl:
        """Only DLPack."""

        def __init__(self, x):
            self.x = x

        def __dlpack__(self, **keys):
            return self.x.__dlpack__()

    k = tilelang.compile(matmul_func(), target="cpu")
    a, b, c = randn(32, 32), randn(32, 32, seed=1), np.zeros((32, 32), "float32")
    k(Dl(a), Dl(b), Dl(c))
    near(c, a @ b)

    class Cuda:
        __cuda_array_interface__ = {"shape": (32, 32), "typestr": "<f4", "data": (4096, False),
                                    "version": 3}

    with raises(TypeError, "'A'", "GPU"):
        k(Cuda(), b, c)
    simulated = tilelang.compile(matmul_func(threads=128), target="sim -arch=sm_80")
    with raises(TypeError, "'A'", "GPU"):
        simulated(Cuda(), Cuda(), Cuda())
    real = tilelang.compile(matmul_func(threads=128), target="cuda -arch=sm_80")
    with raises(TypeError, "'B'", "expected in the memory of a GPU"):
        real(Cuda(), b, c)


def test_strides():
    m, n, s = T.dynamic("m, n, s")

    @T.prim_func
    def main(A: T.StridedTensor((m, n), (s, 1), "float32"), B: T.Tensor((m, n), "float32")):
        with T.Kernel(T.ceildiv(m, 8), threads=32) as bx:
            for i, j in T.Parallel(8, 8):
                if j < n:
                    B[bx * 8 + i, j] = A[bx * 8 + i, j]

    k = tilelang.compile(main, out_idx=[1], target="cpu")
    x = randn(9, 16)
    near(k(x[:, :5]), x[:, :5])


def test_threads():
    """Tracing and compiling on several threads at once."""
    found = []

    def work(n):
        try:
            k = tilelang.compile(matmul_func(n, n, n), out_idx=[2], target="cpu")
            x = randn(n, n)
            near(k(x, x), x @ x)
            found.append(None)
        except Exception as e:
            found.append(e)

    threads = [threading.Thread(target=work, args=(16 + 8 * i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [None] * 4, found


def test_fork():
    k = tilelang.compile(matmul_func(), out_idx=[2], target="cpu")
    x = randn(32, 32)
    near(k(x, x), x @ x)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            near(k(x, x), x @ x)
            near(tilelang.compile(matmul_func(24, 24, 24), out_idx=[2], target="cpu")(
                x[:24, :24].copy(), x[:24, :24].copy()), x[:24, :24] @ x[:24, :24])
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0


def child(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_import_is_clean():
    r = child("import sys; a = set(sys.modules); import tilelang\n"
              "bad = [m for m in set(sys.modules) - a if m.split('.')[0] in\n"
              "       ('numpy', 'torch', 'tvm', 'inspect', 'typing', 'tqdm', 'logging',\n"
              "        'tokenize', 'traceback')]\n"
              "print(bad)")
    assert r.stdout.strip() == "[]", r.stdout + r.stderr


def test_others_find_no_tvm():
    """Only who speaks of tilelang gets its names of tvm."""
    import tempfile

    with tempfile.TemporaryDirectory() as d:
        with open(d + "/other.py", "w") as f:
            f.write("try:\n    import tvm\nexcept ImportError:\n    tvm = None\n")
        r = child("import sys, tilelang; sys.path.insert(0, %r)\nimport other, tvm\n"
                  "print(other.tvm, tvm.__name__)" % d)
    assert r.stdout.split() == ["None", "tilelang.tvm"], r.stdout + r.stderr


def test_command_line():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    r = subprocess.run([sys.executable, "-m", "tilelang", "explain", "T.copy"], cwd=root,
                       capture_output=True, text=True)
    assert r.returncode == 0 and "T.copy" in r.stdout, r.stdout + r.stderr
    r = subprocess.run([sys.executable, "-m", "tilelang", "nonsense"], capture_output=True,
                       text=True)
    assert r.returncode != 0


def test_modules():
    assert tilelang.cdiv(7, 2) == 4 and tilelang.next_power_of_2(5) == 8
    assert tilelang.PassConfigKey.TL_ENABLE_FAST_MATH == "tl.enable_fast_math"
    assert tilelang.transform.PassConfigKey.TL_DISABLE_TMA_LOWER.value == "tl.disable_tma_lower"
    tilelang.set_log_level("INFO")
    tilelang.disable_cache()
    assert not tilelang.is_cache_enabled()
    tilelang.enable_cache()
    assert tilelang.is_cache_enabled()
    from tilelang.carver.arch import CUDA
    from tilelang.carver.template import ElementwiseTemplate, GEMVTemplate, MatmulTemplate

    arch = CUDA("cuda -arch=sm_90a")
    for t in (MatmulTemplate(1024, 1024, 1024), GEMVTemplate(1024, 1024),
              ElementwiseTemplate((1024, 1024))):
        hints = t.with_arch(arch).recommend_hints(5)
        assert len(hints) == 5 and hints[0].block
    assert tilelang.Carver is tilelang.carver
    with raises(AttributeError):
        tilelang.nothing_of_this_name


def test_every_name_of_the_language():
    """All T.names are there; those not supported are no attributes, and the error says why."""
    refused = 0
    for name, _, _, _, why in tilelang._core.rows():
        if "." in name:
            continue
        if why and "annotations" not in why:
            assert not hasattr(T, name) and name not in T.__all__, name
            with raises(AttributeError, name, why):
                getattr(T, name)
            refused += 1
            continue
        row = getattr(T, name)
        assert callable(row) or name in ("WSID",), name
    assert refused > 5
    r = child("from tilelang.language import *\nassert Kernel and float16 and ceildiv(7, 2) == 4 and prim_func")
    assert r.returncode == 0, r.stderr


def test_source_from_notebooks():
    """Text that is only in linecache, as notebooks have it."""
    import linecache

    text = ("import tilelang.language as T\n"
            "@T.prim_func\n"
            "def main(A: T.Tensor((8,), 'float32'), B: T.Tensor((8,), 'float32')):\n"
            "    with T.Kernel(1, threads=8):\n"
            "        T.copy(A, B)\n")
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(True), "<cell 1>")
    space = {}
    exec(compile(text, "<cell 1>", "exec"), space)
    x = randn(8)
    near(tilelang.compile(space["main"], out_idx=[1], target="cpu")(x), x)
    with raises(OSError, "source"):
        exec(text.replace("cell", "no"), {"__name__": "nowhere"})


def test_inputs_made():
    """The spread of each kind: a mean of -1 keeps sums of products away from zero."""
    from tilelang.utils.tensor import TensorSupplyType as S, supply, torch_assert_close

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "int8"), C: T.Tensor((64,), "bool")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                A[i, i] = T.if_then_else(C[i], T.cast(B[i, i], "float32"), 0.0)

    a, b, c = tilelang.compile(main, target="cpu").params
    for kind, mean, far in ((S.Normal, -1, 0.1), (S.Randn, 0, 0.1), (S.Uniform, 0, 0.1),
                            (S.Auto, 0, 0.1), (S.Integer, 0, 0.1), (S.One, 1, 0), (S.Zero, 0, 0)):
        assert abs(float(supply(a, kind).mean()) - mean) <= far, kind
    assert abs(float(supply(a, S.Uniform).max())) <= 1 < float(abs(supply(a, S.Normal)).max())
    assert (supply(b, S.Normal) == 1).all() and set(supply(b, S.Auto).ravel()) <= set(range(-2, 3))
    assert set(supply(c, S.Auto)) == {False, True}
    x = np.array([1.0, float("nan"), 2.0])
    torch_assert_close(x, x * 1.001)
    torch_assert_close(x, x + [0, 0, 1], max_mismatched_ratio=0.5)
    with raises(AssertionError, "1 of 3 elements differ (0 are allowed); first at (2,)"):
        torch_assert_close(x, x + [0, 0, 1])


def test_tuned_by_extents():
    """An eager function tuned for extents alone takes the inputs that were set."""
    @tilelang.autotune(configs=[{"block": 8}, {"block": 16}], warmup=1, rep=1)
    @tilelang.jit(target="cpu")
    def twice(A, block):
        N = T.const("N")
        A: T.Tensor((N,), "float32")
        B = T.empty((N,), "float32")
        with T.Kernel(T.ceildiv(N, block), threads=32) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i] * 2
        return B

    x = randn(64)
    with tilelang.autotuner.set_autotune_inputs(x):
        kernel = twice.compile(N=64)
    assert np.array_equal(kernel(x), x * 2)


def test_names_that_scripts_import():
    """Every import line kernels of others are known to write."""
    lines = """
    from tilelang import tvm as tvm
    from tvm import DataType, tirx
    from tvm.ir import PrimExpr
    from tvm.tirx.stmt_functor import post_order_visit
    import tvm.tir.stmt_functor
    from tilelang.autotuner import *
    from tilelang.autotuner import AutoTuner, autotune, set_autotune_inputs
    from tilelang.profiler import do_bench
    from tilelang.carver.arch import CUDA, CDNA, driver
    from tilelang.carver.template import MatmulTemplate
    from tilelang.carver.roller.rasterization import NoRasterization
    from tilelang.contrib import nvcc
    from tilelang.cuda.intrinsics import get_swizzle_layout, make_mma_swizzle_layout
    from tilelang.cuda.intrinsics.sparse_layout import GROUP_CONFIG, get_e_factor
    from tilelang.engine.callback import register_cuda_postproc_callback
    from tilelang.engine.lower import lower
    from tilelang.engine.param import CompiledArtifact, KernelParam
    from tilelang.jit.adapter.base import BaseKernelAdapter
    from tilelang.utils.device import get_available_cpu_count, get_current_device
    from tilelang.utils import determine_fp8_type
    from tilelang.profiler.bench import do_bench, suppress_stdout_stderr
    from tilelang.autotuner.tuner import AutoTuner
    from tilelang.env import env
    from tilelang.jit.kernel import JITKernel
    from tilelang.language import GemmWarpPolicy, annotate_l2_hit_ratio
    from tilelang.language.dtypes import dtype
    from tilelang.language.fp8 import determine_fp8_type
    from tilelang.layout import Layout, SwizzleMode, make_swizzled_layout, make_linear_layout
    from tilelang.testing import requires_cuda, requires_package
    from tilelang.tileop.base import GemmWarpPolicy
    from tilelang.tools import Analyzer, plot_layout
    from tilelang.transform import PassConfigKey, simplify_prim_func
    from tilelang.utils.target import determine_target
    from tilelang.utils.tensor import TensorSupplyType, get_tensor_supply, torch_assert_close
    import tilelang.cuda.language as T
    """
    for line in lines.split("\n"):
        exec(line.strip(), {})


def test_counters_leave_out_the_emptied_cache():
    from tilelang.profiler.bench import _without_flush

    even = [(10 * i + j, name, us) for i in range(3)
            for j, (name, us) in enumerate([("fill", 9.0), ("main", 4.0), ("fill", 2.0)])]
    assert _without_flush(even[::-1], 3) == 6.0
    assert _without_flush([(i, "fill", 9.0) for i in range(3)], 3) == 0.0
    assert _without_flush(even + [(40, "main", 3.0)], 3) == 7.0


def test_analysis():
    r = tilelang.tools.Analyzer.analysis(matmul_func(64, 64, 64),
                                         tilelang.carver.arch.CUDA("cuda -arch=sm_90a"))
    assert r.total_flops == 2 * 64**3 and r.total_global_bytes == 3 * 64 * 64 * 4


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4


def test_nothing_leaks():
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        return  # freed memory is kept from reuse there
    n = T.dynamic("n")

    def make(by):
        def helper(x):
            return x * by

        @T.prim_func
        def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
            with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
                for i in T.Parallel(64):
                    B[bx * 64 + i] = helper(A[bx * 64 + i])

        return main

    k = tilelang.compile(make(2), out_idx=[1], target="cpu")
    x = randn(100)

    def work():
        for i in range(50):
            make(float(i))
        for _ in range(3000):
            k(x)
        for _ in range(200):
            try:
                k(x, x)
            except ValueError:
                pass

    work()
    before = resident()
    work()
    assert resident() - before < 1024, "%d KiB more" % (resident() - before)


def test_functions_of_others():
    """C text of the kernel gets typed addresses, on the CPU and on a GPU."""
    text = """
    %s void add_up(signed char *from, float *to, int n)
    {
        float sum = 0;
        for (int i = 0; i < n; i++)
            sum += from[i];
        *to = sum;
    }
    """

    def make(word):
        @T.prim_func
        def main(A: T.Tensor((4, 8), "int8"), B: T.Tensor((4,), "float32")):
            with T.Kernel(4, threads=1) as bx:
                T.import_source(text % word)
                a = T.alloc_local((8,), "int8")
                b = T.alloc_local((1,), "float32")
                for i in T.serial(8):
                    a[i] = A[bx, i]
                T.call_extern("handle", "add_up", T.address_of(a[2]), T.address_of(b[0]), 6)
                B[bx] = b[0]

        return main

    k = tilelang.compile(make("static"), out_idx=[1], target="cpu")
    x = np.arange(32, dtype="int8").reshape(4, 8)
    assert np.array_equal(k(x), x[:, 2:].sum(axis=1).astype("float32"))
    got = tilelang.lower(make("static __device__"), target="cuda -arch=sm_90a").kernel_source
    assert "add_up((int8_t *)&a[2], (float *)&b[0], 6)" in got, got
    assert "typedef unsigned int uint;" in got


def test_layouts_of_instructions():
    from tilelang.cuda.intrinsics import get_swizzle_layout
    from tilelang.cuda.intrinsics.layout import mma_layout as m

    for k, each in ((8, 1), (16, 2), (32, 4)):
        for side in "ab":
            place = getattr(m, "shared_16x%d_to_mma_%s_32x%d_layout" % (k, side, k // 2))
            got = {place(i, j): (i, j) for i in range(16) for j in range(k)}
            assert set(got) == {(t, s) for t in range(32) for s in range(k // 2)}
            assert got[5, 0] == (1, each) and got[0, each] == ((8, 0) if side == "a" else (0, 4 * each))
            turned = getattr(m, "shared_16x%d_to_mma_32x%d_layout_rs_%s" % (k, k // 2, side))
            assert turned(3, 2) == place(2, 3)
    for t in range(32):
        for s in range(8):
            i, j = m.mma_store_32x8_to_shared_16x16_layout(t, s)
            assert (t, s) == (4 * (i % 8) + j % 8 // 2, 4 * (j // 8) + i // 8 * 2 + j % 2)
    for size in (16, 32, 64, 128):
        got = {get_swizzle_layout(i, j, size, "float16") for i in range(16) for j in range(size)}
        assert len(got) == 16 * size
    assert len({get_swizzle_layout(i, 0, 64, "float16")[2] for i in range(8)}) == 8
    rows = tilelang.layout.make_full_bank_swizzled_layout(8, 64, 16)
    assert "8, 64" in str(rows)


def test_matched_in_the_body():
    """A parameter that the body declares, by the values of others."""

    @tilelang.jit(target="cpu")
    def doubled(A: T.ptr, rows=False):
        if rows:
            M, N = T.const("M, N")
            A = T.match_buffer(A, [M, N], "float32")
            with T.Kernel(M, threads=32) as bx:
                for i in T.Parallel(N):
                    A[bx, i] = A[bx, i] * 2
        else:
            L = T.const("L")
            A = T.match_buffer(A, (L,), dtype="int32")
            with T.Kernel(1, threads=32) as bx:
                for i in T.Parallel(L):
                    A[i] = A[i] * 2

    x, y = randn(3, 40), np.arange(7, dtype="int32")
    was = x.copy()
    doubled(x, rows=True)
    doubled(y)
    assert np.array_equal(x, was * 2) and np.array_equal(y, np.arange(7) * 2)


def test_measurements_are_named():
    seen = []
    fn = lambda **keys: seen.append(keys) or 1.5  # noqa: E731
    assert tilelang.testing.process_func(fn, "a name", n=3) == 1.5 and seen == [{"n": 3}]


def product_by_hand(ta, tb, dtype, acc, M=32, N=32, K=64):
    from tilelang.cuda.intrinsics.macro.mma_macro_generator import TensorCoreIntrinEmitter

    e = TensorCoreIntrinEmitter(a_dtype=dtype, b_dtype=dtype, accum_dtype=acc, a_transposed=ta,
                                b_transposed=tb, block_row_warps=2, block_col_warps=1,
                                warp_row_tiles=16, warp_col_tiles=32, chunk=32)

    @T.prim_func
    def main(A: T.Tensor((K, M) if ta else (M, K), dtype), B: T.Tensor((N, K) if tb else (K, N), dtype),
             C: T.Tensor((M, N), acc)):
        with T.Kernel(1, threads=e.threads) as bx:
            a = T.alloc_shared((32, M) if ta else (M, 32), dtype)
            b = T.alloc_shared((N, 32) if tb else (32, N), dtype)
            a_local = T.alloc_local((e.warp_rows * e.local_size_a,), dtype)
            b_local = T.alloc_local((e.warp_cols * e.local_size_b,), dtype)
            c_local = T.alloc_local((e.warp_rows * e.warp_cols * e.local_size_out,), acc)
            T.clear(c_local)
            for ko in T.Pipelined(K // 32, num_stages=2):
                if ta:
                    T.copy(A[ko * 32, 0], a)
                else:
                    T.copy(A[0, ko * 32], a)
                if tb:
                    T.copy(B[0, ko * 32], b)
                else:
                    T.copy(B[ko * 32, 0], b)
                for ki in T.serial(32 // e.micro_size_k):
                    e.ldmatrix_a(a_local, a, ki)
                    e.ldmatrix_b(b_local, b, ki)
                    e.mma(a_local, b_local, c_local)
            e.stmatrix(c_local, C, 0, bx)

    return main


def test_products_by_hand():
    """Registers filled by hand and one instruction at a time."""
    rng = np.random.default_rng(0)
    for ta, tb, dtype, acc, arch in ((False, True, "float16", "float32", "sm_90a"), (True, False, "int8", "int32", "sm_80"),
                                     (True, False, "float16", "float32", "sm_80"), (True, True, "float16", "float32", "sm_90a"),
                                     (False, False, "float16", "float32", "sm_90a"), (False, True, "int8", "int32", "sm_90a")):
        text = tilelang.compile(product_by_hand(ta, tb, dtype, acc), out_idx=[2], target="cuda -arch=" + arch).get_kernel_source()
        for name, turned in (("a_local", ta), ("b_local", not tb)):
            wanted = "" if turned and dtype == "int8" else "tl_ldmatrix_x4%s(%s" % ("_trans" if turned else "", name)
            assert wanted in text.replace("(uint32_t *)&", ""), (wanted, text)
        k = tilelang.compile(product_by_hand(ta, tb, dtype, acc), out_idx=[2],
                             target="sim -arch=" + arch)
        a = rng.integers(-3, 4, (64, 32) if ta else (32, 64)).astype(dtype)
        b = rng.integers(-3, 4, (32, 64) if tb else (64, 32)).astype(dtype)
        left, right = (x.astype("float32") for x in (a.T if ta else a, b.T if tb else b))
        assert np.array_equal(k(a, b), left @ right)
    with raises(NotImplementedError, "is an instruction of sm_80 and later"):
        tilelang.compile(product_by_hand(False, True, "float16", "float32"), target="cpu")
    with raises(NotImplementedError, "T.gemm is"):
        product_by_hand(False, True, "float32", "float32")


def test_tools_are_told_of_every_pass():
    from tilelang import instrumentation as watch

    seen = []

    class Observer(watch.PassEventObserver):
        def pass_started(self, mod, event):
            return mod

        def pass_finished(self, mod, event, state):
            seen.append((event.name, event.phase, state != mod))

    class Tool(watch.PassInstrumentationTool):
        def create_pass_instrument(self):
            return watch.StackedPassInstrument(Observer())

        def run_codegen(self, event, next_call):
            seen.append(event.name)
            return next_call()

        def finish(self, error):
            seen.append(error)

    @T.prim_func
    def main(A: T.Tensor((256,), "float32")):
        with T.Kernel(2, threads=128) as bx:
            for i in T.Parallel(128):
                A[bx * 128 + i] = 1

    watch.register_pass_instrumentation_tool("test", Tool)
    try:
        tilelang.compile(main, target="sim -arch=sm_90a")
    finally:
        watch.unregister_pass_instrumentation_tool("test")
    assert seen[0] == "target.build.cuda" and seen[-1] is None
    assert ("lower_parallel", "pipeline_cuda", True) in seen
    count = len(seen)
    tilelang.compile(main, target="sim -arch=sm_90a")
    assert len(seen) == count and watch.current_compile_pass_instrumentation() is None


def test_nvcc_is_run_with_a_limit():
    import os
    import tempfile

    from tilelang.contrib import nvcc
    from tilelang.utils.target import determine_target

    with tempfile.TemporaryDirectory() as root:
        os.mkdir(root + "/bin")
        tool = root + "/bin/nvcc"
        with open(tool, "w") as f:
            f.write("#!/bin/sh\ncase \"$*\" in *slow*) exec sleep 20;; *bad*) echo oops; exit 3;; esac\n"
                    "while [ \"$1\" != -o ]; do said=\"$said $1\"; shift; done; echo $said > $2\n")
        os.chmod(tool, 0o755)
        before = os.environ.get("CUDA_HOME")
        os.environ["CUDA_HOME"] = root
        try:
            got = nvcc.compile_cuda("", "cubin", arch="sm_80", options=["-lineinfo"]).decode()
            assert got.split() == ["--cubin", "-O3", "-arch=sm_80", "-lineinfo"]
            with determine_target({"kind": "cuda", "arch": "sm_90a", "code": ["sm_90a"]}, True):
                assert "arch=compute_90a,code=sm_90a" in nvcc.compile_cuda("").decode()
            with raises(RuntimeError, "status 3"):
                nvcc.compile_cuda("", arch="sm_80", options="-bad")
            os.environ["TILELANG_COMPILE_TIMEOUT_SECONDS"] = "0.2"
            with raises(RuntimeError, "timed out after 0.2 seconds"):
                nvcc.compile_cuda("", arch="sm_80", options="-slow")
        finally:
            os.environ.pop("TILELANG_COMPILE_TIMEOUT_SECONDS", None)
            os.environ.pop("CUDA_HOME") if before is None else os.environ.update(CUDA_HOME=before)


def test_a_bundle_of_a_traced_kernel_is_a_library():
    import ctypes
    import json
    import tempfile

    k = tilelang.compile(matmul_func(), target="cpu")
    with tempfile.TemporaryDirectory() as root:
        k.export_library(root)
        with open(root + "/manifest.json") as f:
            name = json.load(f)["name"]
        lib = ctypes.CDLL("%s/lib%s.so" % (root, name))
        a, b, c = randn(32, 32), randn(32, 32), np.zeros((32, 32), "float32")
        assert lib[name](*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, c))) == 0
    near(c, a @ b)


def test_tensors_without_elements():
    for target in ("cpu", "sim -arch=sm_90a"):
        k = tilelang.compile(matmul_func(K=0), out_idx=-1, target=target)
        assert (k(np.ones((32, 0), "float32"), np.ones((0, 32), "float32")) == 0).all()
        odd = np.lib.stride_tricks.as_strided(np.ones(4, "float32"), (32, 0), (4, 4))
        assert (k(odd, np.ones((0, 32), "float32")) == 0).all()


def test_parameters_say_their_strides():
    @T.prim_func
    def main(A: T.StridedTensor((4, 8), (16, 1), "float32"), n: T.int32):
        with T.Kernel(1, threads=32) as bx:
            A[0, 0] = n

    assert list(main.buffer_map) == ["A"]
    assert main.buffer_map["A"].shape == [4, 8] and main.buffer_map["A"].strides == [16, 1]
    assert matmul_func().buffer_map["B"].strides is None


def test_emitted_text_goes_through_the_users_function():
    from tilelang.engine.callback import register_c_postproc, register_c_postproc_callback

    seen = []

    @register_c_postproc_callback
    def change(code, target):
        seen.append(str(target))
        return code.replace("41", "42")

    @T.prim_func
    def main(A: T.Tensor((32,), "int32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                A[i] = 41

    try:
        k = tilelang.compile(main, out_idx=-1, target="c")
        assert (k() == 42).all() and "42" in k.get_kernel_source() and seen == ["cpu"]
        with raises(ValueError, "override"):
            register_c_postproc(change, override=False)
        register_c_postproc(lambda code, target: None)
        with raises(TypeError, "returns the text"):
            tilelang.compile(main, out_idx=-1, target="c")
    finally:
        register_c_postproc(None)
    assert (tilelang.compile(main, out_idx=-1, target="c")() == 41).all()


def test_cached_kernels_are_folders():
    import tempfile

    from tilelang.cache.kernel_cache import KernelCache

    with tempfile.TemporaryDirectory() as root, settings(TILELANG_CACHE_DIR=root):
        func, a, b = matmul_func(), randn(32, 32), randn(32, 32)
        first, store = KernelCache(), os.path.join(root, "cached")
        k = first.cached(func, out_idx=[-1], target="c")
        near(k(a, b), a @ b)
        assert first.cached(func, out_idx=[-1], target="c") is k
        entry = os.path.join(store, os.listdir(store)[0])
        assert {"device_kernel.cu", "host_kernel.cu", "kernel_lib.so", "params.pkl",
                "recipe.json"} <= set(os.listdir(entry))
        again = KernelCache().cached(func, out_idx=[-1], target="c")
        assert KernelCache()._load_kernel_source(os.path.basename(entry))[0] == k.kernel_source
        assert again is not k and again.get_kernel_source() == k.get_kernel_source()
        near(again(a, b), a @ b)
        os.unlink(os.path.join(entry, "params.pkl"))  # half an entry is none
        KernelCache().cached(func, out_idx=[-1], target="c")
        assert os.path.exists(os.path.join(entry, "params.pkl"))
        assert len(os.listdir(store)) == 1 and not os.listdir(os.path.join(root, ".staging"))


def test_calls_of_a_factory_are_told_apart():
    made = []

    @tilelang.jit(target="cpu")
    def f(x, y=2, more=None):
        made.append(x)

        @T.prim_func
        def main(A: T.Tensor((4,), "float32")):
            with T.Kernel(1, threads=32):
                A[0] = y

        return main

    assert f(1) is f(1, 2) is f(x=1) is f(y=2, x=1) is f(1, more=None)
    assert len(made) == 1
    assert len({id(f(x)) for x in (1, True, 1.0, 0.0, -0.0, "1", [1], (1,), [True])}) == 9
    assert f([1, 2], more={"a": [0]}) is f([1, 2], more={"a": [0]})
    assert f([1, 2], more={"a": [0]}) is not f([1, 2], more={"a": [False]})
    key, tensors = f.func.parse_args(1, more=[3])
    assert key == ((1, 2, (3,)), None) and tensors == {}
    with raises(TypeError, "argument"):
        f()


def test_fp8_type_is_the_default_targets():
    import os

    from tilelang.language.fp8 import determine_fp8_type

    kept = os.environ.get("TILELANG_DEFAULT_TARGET")
    try:
        for target, want in (("hip -mcpu=gfx942", "float8_e4m3fnuz"), ("hip -mcpu=gfx950", "float8_e4m3fn"), ("cpu", "float8_e4m3fn")):
            os.environ["TILELANG_DEFAULT_TARGET"] = target
            assert str(determine_fp8_type()) == want, (target, str(determine_fp8_type()))
        os.environ["TILELANG_DEFAULT_TARGET"] = "hip -mcpu=gfx90a"
        assert str(determine_fp8_type("e5m2")) == "float8_e5m2fnuz"
    finally:
        os.environ.pop("TILELANG_DEFAULT_TARGET") if kept is None else os.environ.update(TILELANG_DEFAULT_TARGET=kept)
