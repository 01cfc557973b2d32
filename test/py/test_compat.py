"""Names and habits of the original's package that kernels and scripts lean on."""

import logging
import warnings

import numpy as np

import tilelang
import tilelang.language as T
import tilelang.testing
from tilelang.jit.diagnostics import jit_phase
from tilelang.language.kernel import _normalize_threads
from check import near, raises, randn


def made():
    @T.prim_func
    def scaled(A):
        A: T.Tensor[[32], T.float32]
        T.annotate_pass_configs({tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True})
        T.annotate_compile_flags(["-O2"])
        B = T.empty([32], T.float32)
        with T.Kernel(1):
            for i in T.serial(32):
                B[i] = A[i] * 2
        return B

    return scaled


def test_attrs_say_what_the_function_says():
    f = made()
    assert f.attrs["global_symbol"] == "scaled"
    assert f.attrs["tilelang_out_idx"] == [-1]
    assert f.attrs["tilelang_pass_configs"] == {"tl.enable_fast_math": 1}
    assert f.attrs["tilelang_compile_flags"] == ["-O2"]
    with raises(ValueError, "Out index conflict"):
        tilelang.compile(f, out_idx=[-1], target="c")


def test_compiled_function_knows_its_outputs():
    @T.prim_func
    def copy(A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32")):
        with T.Kernel(1):
            T.copy(A, B)

    k = tilelang.compile(copy, out_idx=-1, target="c")
    assert k.prim_func.attrs["tilelang_out_idx"] == [-1]
    assert "tilelang_out_idx" not in copy.attrs


def test_function_without_a_kernel_is_refused_when_compiled():
    @T.prim_func
    def nothing(A: T.Buffer((8,), "int32")):
        pass

    with raises(RuntimeError, "no-kernel"):
        tilelang.compile(nothing, target="c")


def test_calls_that_mean_the_same_share_a_kernel():
    @tilelang.jit(target="c")
    def factory(n, block=4, **more):
        @T.prim_func
        def fill(A: T.Tensor((n,), "int32")):
            with T.Kernel(1):
                T.fill(A, block)

        return fill

    assert factory(8) is factory(8, 4) is factory(block=4, n=8)
    assert factory(8) is not factory(8, 5) and factory(8) is not factory(8, 4.0)
    assert factory.func.parse_args(8, opts=[1, {2: 3}])[0] == ((8, 4, (1, ((2, 3),))), None)
    assert factory.func.parse_args(8)[0] == ((8, 4), None)
    with raises(TypeError, "multiple values"):
        factory.func.parse_args(8, n=8)
    with raises(TypeError, "unhashable"):
        factory.func.parse_args(8, bytearray())


def test_phases_are_logged():
    seen = []
    log = logging.getLogger("tilelang.jit.diagnostics")
    handler = logging.Handler()
    handler.emit = lambda record: seen.append(record.getMessage())
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        with jit_phase("one", enabled=True, kernel="k"):
            pass
        with jit_phase("two", enabled=False):
            pass
        try:
            with jit_phase("three", enabled=True):
                raise KeyError("x")
        except KeyError:
            pass
    finally:
        log.removeHandler(handler)
        log.setLevel(before)
    text = "\n".join(seen)
    assert "start: one (kernel='k')" in text and "done: one" in text
    assert "two" not in text and "failed: three" in text


def test_threads_of_a_block():
    assert _normalize_threads(None) == [128, 1, 1] and _normalize_threads((32, 2)) == [32, 2, 1]
    with raises(ValueError, "threads must be positive"):
        _normalize_threads([64, 0])


def test_compute_versions_compare():
    import unittest

    never = tilelang.testing.requires_cuda_compute_version(1000, mode="ge")(lambda: None)
    with raises(unittest.SkipTest, "compute capability"):
        never()


def directed(mode):
    @T.prim_func
    def main(X: T.Tensor((64,), "float32"), Y: T.Tensor((64,), "float32"),
             Z: T.Tensor((3, 64), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(64):
                Z[0, i] = T.ieee_add(X[i], Y[i], mode)
                Z[1, i] = T.ieee_mul(X[i], Y[i], mode)
                Z[2, i] = T.ieee_fdiv(X[i], Y[i], mode)

    return main


def test_rounding_modes():
    x, y = randn(64), randn(64, seed=1)
    wide = np.stack([x.astype("float64") + y, x.astype("float64") * y, x.astype("float64") / y])
    got = {}
    for mode in ("rn", "rz", "ru", "rd"):
        k = tilelang.compile(directed(mode), out_idx=-1, target="sim -arch=sm_90a")
        got[mode] = k(x, y).astype("float64")
        assert mode == "rn" or "__fadd_" + mode in k.get_kernel_source()
    assert (got["rd"] <= wide).all() and (wide <= got["ru"]).all()
    assert (np.abs(got["rz"]) <= np.abs(wide)).all()
    assert (got["ru"] != got["rd"]).any()
    assert ((got["rn"] == got["ru"]) | (got["rn"] == got["rd"])).all()
    with raises(NotImplementedError, "rounding modes"):
        tilelang.compile(directed("rz"), target="c")
    with raises(ValueError, "Invalid rounding mode"):
        T.ieee_add(1.0, 2.0, "up")


def test_fast_functions_are_the_gpus_own():
    @T.prim_func
    def main(X: T.Tensor((32,), "float32"), Y: T.Tensor((2, 32), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                Y[0, i] = T.__exp(X[i])
                Y[1, i] = T.exp(X[i])

    x = randn(32)
    k = tilelang.compile(main, out_idx=-1, target="sim -arch=sm_80")
    near(k(x)[0], np.exp(x))
    assert "__expf(" in k.get_kernel_source() and " expf(" in k.get_kernel_source()
    near(tilelang.compile(main, out_idx=-1, target="c")(x)[0], np.exp(x))


def test_dialects():
    import tilelang.cpu.language as cpu
    import tilelang.language.common as common
    from tilelang.cuda import language as cuda

    assert cuda.copy is T.copy and set(cuda.__all__) == set(T.__all__) and T.__tilelang_dialect__ == "cuda"
    assert common.copy is T.copy and cpu.gemm is T.gemm
    assert "tma_copy" in T.__all__ and "tma_copy" not in cpu.__all__
    with raises(AttributeError, "tma_copy"):
        cpu.tma_copy


def test_headers_of_cuda():
    import os
    import tempfile

    from tilelang.jit.adapter.nvrtc.include_paths import discover_cuda_include_paths as find

    with tempfile.TemporaryDirectory() as root:
        assert find(root, "x86_64", "linux")[0] == os.path.join(root, "include")
        os.makedirs(os.path.join(root, "targets/sbsa-linux/include"))
        assert find(root, "aarch64", "linux") == [os.path.join(root, "targets/sbsa-linux/include")]


def test_limit_of_compiling():
    import os

    from tilelang.contrib.nvcc import _get_compile_timeout_seconds as limit

    os.environ["TILELANG_COMPILE_TIMEOUT_SECONDS"] = "1.5"
    try:
        assert limit() == 1.5
        os.environ["TILELANG_COMPILE_TIMEOUT_SECONDS"] = "inf"
        with raises(ValueError, "TILELANG_COMPILE_TIMEOUT_SECONDS"):
            limit()
    finally:
        del os.environ["TILELANG_COMPILE_TIMEOUT_SECONDS"]
    assert limit() is None


def test_packed_rows_are_counted_in_elements():
    @tilelang.jit(target="c")
    def unpack(A):
        M, K = T.const("M K")
        A: T.Tensor((M, K), T.int4)
        B = T.empty((M, K), T.int32)
        with T.Kernel(1, threads=32):
            for i, j in T.Parallel(M, K):
                B[i, j] = A[i, j]
        return B

    packed = np.array([[0x21, 0x43], [0x65, 0x70]], dtype="int8")
    assert (unpack(packed) == [[1, 2, 3, 4], [5, 6, 0, 7]]).all()


def test_lanes_of_a_ramp_count_from_the_end():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((4, 4), "float32")):
        with T.Kernel(1, threads=1) as bx:
            for t in T.serial(4):
                B[t, T.Ramp(0, 1, 4)] = A[T.Ramp(t - 2, 1, 4)]

    a = np.arange(64, dtype="float32")
    want = np.array([[(t - 2 + i) % 64 for i in range(4)] for t in range(4)], "float32")
    for target in ("cpu", "sim -arch=sm_90a"):
        assert (tilelang.compile(main, out_idx=-1, target=target)(a) == want).all()


def test_questions_about_amd_gpus():
    from tilelang.rocm.target import target_is_cdna, target_is_gfx950, target_is_rdna

    for text, newest in (("hip -mcpu=gfx950", True), ("hip -model=mi355x", True), ("hip", False),
                         ("rocm -mcpu=gfx942", False)):
        assert target_is_gfx950(text) == newest, text
        assert target_is_cdna(text) and not target_is_rdna(text)
    assert not target_is_cdna("cuda -arch=sm_90a") and not target_is_gfx950("cuda")


def test_languages_of_makers():
    from tilelang.cuda import debug, language as cuda
    from tilelang.cuda.language import tir
    from tilelang.metal import language as metal
    from tilelang.rocm import language as rocm

    assert all(getattr(cuda, name) is getattr(T, name) for name in T.__all__)
    assert cuda.copy is T.copy and cuda.wgmma_mma is T.wgmma_gemm and debug.device_assert is T.device_assert
    assert T.rng_init.__module__ == "tilelang.cuda.language.random"
    assert T.ws.__module__ == "tilelang.cuda.language.warpgroup"
    assert tir.ptx_mma.__module__ == "tilelang.cuda.language.tir" and not hasattr(tir, "copy")
    assert rocm.mfma is T.tvm_mfma and "mfma" in rocm.__all__ and "rng_init" not in rocm.__all__
    assert not any(name.startswith("tvm_mfma") for name in cuda.__all__ + metal.__all__)
    with raises(AttributeError, "rdna_wmma"):
        rocm.rdna_wmma()


def test_products_of_warpgroups_by_hand():
    from tilelang.cuda.intrinsics.macro.wgmma_macro_generator import TensorCoreIntrinEmitter
    e = TensorCoreIntrinEmitter("float16", "float16", "float32", b_transposed=True, block_row_warps=4, block_col_warps=1,
                                warp_row_tiles=16, warp_col_tiles=64, chunk=64)

    @T.prim_func
    def main(A: T.Tensor((64, 128), "float16"), B: T.Tensor((64, 128), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=e.threads):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            for k in T.serial(2):
                T.copy(A[0, k * 64], a)
                T.copy(B[0, k * 64], b)
                e.wgmma(a, b, c, clear_accum=k == 0)
            T.copy(c, C)

    k = tilelang.compile(main, target="sim -arch=sm_90a")
    r = np.random.default_rng(3)
    a, b = (r.integers(-4, 5, (64, 128)).astype(np.float16) for _ in range(2))
    c = np.zeros((64, 64), np.float32)
    k(a, b, c)
    assert np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
    assert "wgmma.mma_async" in k.get_kernel_source()
    for name, why in ("mma_atom", NotImplementedError), ("nosuch", AttributeError):
        with raises(why):
            getattr(e, name)
    with raises(ValueError, "multiple of 4"):
        TensorCoreIntrinEmitter(block_row_warps=2)


def single_instructions(M, N, chunk, rows=4, b_transposed=False, annotate=True):
    from tilelang.cuda.language.intrinsics import WGMMATensorCoreIntrinEmitter
    from tilelang.layout import make_full_bank_swizzled_layout, make_half_bank_swizzled_layout
    e = WGMMATensorCoreIntrinEmitter("float16", "float16", "float32", b_transposed=b_transposed, block_row_warps=rows,
                                     block_col_warps=1, warp_row_tiles=M // rows, warp_col_tiles=N, chunk=chunk)
    swizzled = make_half_bank_swizzled_layout if chunk == 32 else make_full_bank_swizzled_layout
    shape = (N, chunk) if b_transposed else (chunk, N)

    @T.prim_func
    def main(A: T.Tensor((M, chunk), "float16"), B: T.Tensor(shape, "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=e.threads):
            a = T.alloc_shared((M, chunk), "float16")
            b = T.alloc_shared(shape, "float16")
            c = T.alloc_fragment((M, N), "float32")
            if annotate:
                T.annotate_layout({a: swizzled(a), b: make_full_bank_swizzled_layout(b), c: e.make_mma_store_layout(c)})
            T.copy(A, a)
            T.copy(B, b)
            a_params = e.compute_wgmma_a_desc_params(a)
            b_params = e.compute_wgmma_b_desc_params(b)
            desc_a = T.alloc_wgmma_desc()
            desc_b = T.alloc_wgmma_desc()
            e.init_wgmma_a_desc(desc_a, a, a_params)
            e.init_wgmma_b_desc(desc_b, b, b_params)
            e.wgmma_fence_c(c)
            e.wgmma_arrive()
            for n in T.unroll(e.wgmma_num_inst_n):
                for m in T.unroll(e.wgmma_num_inst_m):
                    for ki in T.unroll(e.wgmma_num_k_atoms):
                        e.wgmma_ss_atom(desc_a, desc_b, c, m, n, ki, a_params, b_params, T.bool(True))
            e.wgmma_commit()
            e.wgmma_wait(0)
            e.wgmma_fence_c(c)
            T.copy(c, C)

    k = tilelang.compile(main, target="sim -arch=sm_90a")
    r = np.random.default_rng(3)
    a, b = r.integers(-4, 5, (M, chunk)).astype(np.float16), r.integers(-4, 5, shape).astype(np.float16)
    c = np.zeros((M, N), np.float32)
    k(a, b, c)
    right = b.astype(np.float32)
    assert np.array_equal(c, a.astype(np.float32) @ (right.T if b_transposed else right))
    return "wgmma.mma_async" in k.get_kernel_source()


def test_single_instructions_of_warpgroups():
    assert single_instructions(64, 64, 32)
    assert single_instructions(64, 64, 64, b_transposed=True)
    assert single_instructions(64, 64, 64, b_transposed=True, annotate=False)
    assert single_instructions(128, 64, 64, rows=8)
    with warnings.catch_warnings(record=True) as said:  # a warpgroup with 64 rows twice: right, and not by wgmma
        warnings.simplefilter("always")
        assert not single_instructions(128, 64, 32)
    assert any("not a whole fragment" in str(w.message) for w in said)


def test_backends_are_known():
    from tilelang.backend import create_backend_context
    assert create_backend_context("cpu", "cython").execution_backend == "cython"
    with raises(ValueError, "nonsense"):
        create_backend_context("cpu", "nonsense")


def test_pieces_of_products():
    from tilelang.intrinsics import TensorCoreIntrinEmitter

    e = TensorCoreIntrinEmitter("float16", "float16", "float32", b_transposed=True, block_row_warps=1,
                                block_col_warps=2, warp_row_tiles=32, warp_col_tiles=16, chunk=32)

    @T.prim_func
    def main(A: T.Tensor((32, 32), "float16"), B: T.Tensor((32, 32), "float16"),
             C: T.Tensor((32, 32), "float32")):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((32, 32), "float16")
            b = T.alloc_shared((32, 32), "float16")
            la = T.alloc_local((e.warp_rows * e.local_size_a,), "float16")
            lb = T.alloc_local((e.warp_cols * e.local_size_b,), "float16")
            lc = T.alloc_local((e.warp_rows * e.warp_cols * e.local_size_out,), "float32")
            T.clear(lc)
            T.copy(A, a)
            T.copy(B, b)
            for k in T.serial(2):
                e.ldmatrix_a(la, a, k)
                e.ldmatrix_b(lb, b, k)
                for i, j in T.grid(e.mma_num_inst_m, e.mma_num_inst_n):
                    e.mma_atom(la, lb, lc, i, j, k)
            e.stmatrix(lc, C)

    x, y = randn(32, 32).astype("float16"), randn(32, 32, seed=1).astype("float16")
    out = tilelang.compile(main, out_idx=[2], target="sim -arch=sm_80")(x, y)
    near(out, x.astype("float32") @ y.astype("float32").T, 1e-3)


def test_targets_are_made_of_dicts():
    from tilelang import tvm
    from tilelang.transform.simplify import apply_simplify

    target = tvm.target.Target({"kind": "cuda", "arch": "sm_90", "code": ["sm_90a"]})
    assert target == "cuda -arch=sm_90" and target.arch == "sm_90" and target.code == ["sm_90a"]

    @T.prim_func
    def main(A: T.Tensor((32,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                A[i] = 1

    with target:
        text = tilelang.lower(apply_simplify(main), target=target).kernel_source
    assert "__global__" in text


def test_simplified_functions_lose_what_they_do_not_touch():
    from tilelang.transform import simplify_prim_func

    n = T.dynamic("n")

    @simplify_prim_func
    def factory(biased):
        @T.prim_func
        def main(A: T.Tensor((n,), "float32"), Bias: T.Tensor((n,), "float32"),
                 Only: T.Tensor((T.dynamic("m"),), "float32"), B: T.Tensor((n,), "float32")):
            with T.Kernel(1, threads=32):
                for i in T.Parallel(n):
                    B[i] = A[i] + (Bias[i] if biased else 1)

        return main

    names = [[p.name for p in factory(b).params] for b in (True, False)]
    assert names == [["A", "Bias", "Only", "B"], ["A", "Only", "B"]]  # nothing else says what m is
    a = np.arange(8, dtype="float32")
    for target in ("cpu", "sim -arch=sm_90a"):
        k = tilelang.compile(factory(False), out_idx=-1, target=target)
        assert (k(a, a) == a + 1).all()


def test_conditions_of_tvm():
    from tilelang.tvm import tirx

    a, b, c = (tirx.Var(name, "int32") for name in "abc")
    assert str(tirx.all(a < b, b < c)) == str(T.And(a < b, b < c))
    assert str(tirx.any(a < b, b < c, a < c)) == str(T.Or(T.Or(a < b, b < c), a < c))


def test_arguments_that_change_make_other_kernels():
    from dataclasses import dataclass

    @dataclass
    class Options:
        value: int
        more: list

    @tilelang.jit(out_idx=[0], target="c")
    def filled(options):
        value = int(options.value if isinstance(options, Options) else options[0])

        @T.prim_func
        def main(A: T.Tensor((4,), "int32")):
            with T.Kernel(1):
                T.fill(A, value)

        return main

    o, a = Options(1, [2]), np.array([5, 6])
    assert filled(o)()[0] == 1 and filled(o) is filled(Options(1, [2]))
    o.value = 3
    assert filled(o)()[0] == 3
    assert filled(a)()[0] == 5
    a[0] = 7
    assert filled(a)()[0] == 7


def test_executable():
    @T.prim_func
    def main(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=8):
            for i in T.Parallel(8):
                B[i] = A[i] + 1

    kernel = tilelang.compile(main, out_idx=[1], target="cpu")
    made = kernel.adapter.get_exportable_executable().jit()
    near(made.get_function("main")(randn(8)), randn(8) + 1)
    with raises(AttributeError, "other"):
        made.get_function("other")
