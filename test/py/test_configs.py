"""Every pass config of the compiler's table has an effect, is told to be ignored, or is refused.

What an effect is depends on the config: another text or plan, other warnings, something shown, a
file.  A row that is added without a kernel here fails."""

import contextlib
import importlib.util
import io
import os
import tempfile
import warnings

import numpy as np
import tilelang
import tilelang.language as T
from check import raises
from test_options import product
from tilelang import _core

here = os.path.dirname(os.path.abspath(__file__))


def ragged(threads=128):
    M, N = T.dynamic("M"), T.dynamic("N")

    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), B: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=threads) as (bx, by):
            a = T.alloc_fragment((64, 64), "float16")
            T.copy(A[by * 64, bx * 64], a)
            T.copy(a, B[by * 64, bx * 64])

    return main


def large():
    @T.prim_func
    def main(A: T.Tensor((70000, 70000), "float16"), B: T.Tensor((70000, 70000), "float16")):
        with T.Kernel(T.ceildiv(70000, 64), T.ceildiv(70000, 64), threads=128) as (bx, by):
            for i, j in T.Parallel(64, 64):
                B[by * 64 + i, bx * 64 + j] = A[by * 64 + i, bx * 64 + j]

    return main


def even():
    @T.prim_func
    def main(A: T.Tensor((4096, 4096), "float16"), B: T.Tensor((4096, 4096), "float16")):
        with T.Kernel(64, 64, threads=128) as (bx, by):
            for i, j in T.Parallel(64, 64):
                B[by * 64 + i, bx * 64 + j] = A[by * 64 + i, bx * 64 + j]

    return main


def ragged_nest():
    N = T.dynamic("N")

    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 64), threads=128) as bx:
            for i in T.Parallel(64):
                B[bx * 64 + i] = A[bx * 64 + i] + 1

    return main


def two_tiles():
    """One after the other, and in each turn of a loop."""

    @T.prim_func
    def main(A: T.Tensor((8, 64, 64), "float32"), B: T.Tensor((8, 64, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float32")
            b = T.alloc_shared((64, 64), "float32")
            x = T.alloc_fragment((64, 64), "float32")
            for k in T.serial(8):
                for i, j in T.Parallel(64, 64):
                    a[i, j] = A[k, i, j]
                for i, j in T.Parallel(64, 64):
                    x[i, j] = a[j, i] * 2
                for i, j in T.Parallel(64, 64):
                    b[i, j] = x[i, j]
                for i, j in T.Parallel(64, 64):
                    B[k, i, j] = b[j, i]

    return main


def two_phases():
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float32")
            b = T.alloc_shared((64, 64), "float32")
            x = T.alloc_fragment((64, 64), "float32")
            for i, j in T.Parallel(64, 64):
                a[i, j] = A[i, j]
            for i, j in T.Parallel(64, 64):
                x[i, j] = a[j, i]
            for i, j in T.Parallel(64, 64):
                b[i, j] = x[i, j] + 1
            for i, j in T.Parallel(64, 64):
                B[i, j] = b[j, i]

    return main


def careless():
    """Races, reads what nobody wrote, and reaches outside."""

    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((64,), "float32")
            for i in T.Parallel(64):
                A[i // 2] = B[i] + s[i]
            for i in T.Parallel(64):
                B[i] = A[i + 64]

    return main


def reducer():
    @T.prim_func
    def main(A: T.Tensor((64, 128), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=128):
            x = T.alloc_fragment((64, 128), "float32")
            s = T.alloc_reducer((64,), "float32", op="sum")
            T.copy(A, x)
            T.clear(s)
            for i, j in T.Parallel(64, 128):
                s[i] += x[i, j]
            T.finalize_reducer(s)
            T.copy(s, B)

    return main


def choice():
    @T.prim_func
    def main(A: T.Tensor((4, 64, 64), "float32"), B: T.Tensor((4, 64, 64), "float32")):
        with T.Kernel(4, threads=64) as bx:
            twice = bx * 2
            for k in T.serial(64):
                if bx > 1:
                    for i in T.Parallel(64):
                        B[bx, k, i] = A[bx, k, i] + T.cast(twice, "float32")
                else:
                    for i in T.Parallel(64):
                        B[bx, k, i] = A[bx, k, i] * T.cast(twice, "float32")

    return main


def selected():
    """A pipeline whose copy goes by a name made under a condition."""

    @T.prim_func
    def main(A: T.Tensor((64, 64, 64), "float16"), P: T.Tensor((64,), "int32"),
             C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(64, num_stages=3):
                if P[k] >= 0:
                    page = P[k]
                    T.copy(A[page, 0, 0], a)
                    T.gemm(a, a, c)
            T.copy(c, C)

    return main


def half_bulk():
    """A copy of rows that no bulk copy takes beside one that it does."""

    @T.prim_func
    def main(A: T.Tensor((1024, 1024), "float16"), B: T.Tensor((1024, 1028), "float16"),
             C: T.Tensor((1024, 1024), "float32")):
        with T.Kernel(8, 8, threads=128) as (bx, by):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((64, 128), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            for k in T.Pipelined(16, num_stages=2):
                T.copy(A[by * 128, k * 64], a)
                T.copy(B[k * 64, bx * 128], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * 128, bx * 128])

    return main


def mixed_layouts():
    @T.prim_func
    def main(A: T.Tensor((128, 32), "float32"), B: T.Tensor((32, 128), "float32"),
             C: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=128):
            x = T.alloc_fragment((128, 32), "float32")
            y = T.alloc_fragment((128,), "float32")
            for i, j in T.Parallel(128, 32):
                x[i, j] = A[i, j] + B[j, i] + y[i]
            for i, j in T.Parallel(128, 32):
                B[j, i] = x[i, j]
            for i in T.Parallel(128):
                C[i] = y[i]

    return main


def product_f32():
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32"),
             C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float32")
            b = T.alloc_shared((64, 64), "float32")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a, b, c)
            T.copy(c, C)

    return main


def kernel_of(file, name, *args, **keys):
    path = os.path.join(here, "..", "kernel", file)
    spec = importlib.util.spec_from_file_location("a_kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name).get_tir(*args, **keys)


def plain(stages=2):
    return product(128, 128, 32, stages)


# config -> (kernel, architecture or cpu, value that is not the default, others beside it)
CASES = {
    "tl.as_written": (lambda: product(128, 256, 64, 3, 256), "sm_90a", True, {}),
    "tl.auto_stages": (plain, "sm_90a", True, {}),
    "tl.persistent_blocks": (lambda: product(128, 256, 64, 3, 256), "sm_90a", 7, {}),
    "tl.cluster": (lambda: product(128, 256, 64, 3, 256), "sm_90a", 2, {}),
    "tl.ping_pong": (lambda: kernel_of("attention.py", "attention"), "sm_90a", 0, {}),
    "tl.staggered_start": (lambda: product(128, 128, 64, 4, 256), "sm_90a", True,
                       {"tl.persistent_blocks": 8}),
    "tl.unaligned_tensors": (plain, "sm_90a", True, {}),
    "tl.stage_stores": (plain, "sm_90a", False, {}),
    "tl.warpgroup_stores": (lambda: product(128, 128, 64, 3, 256), "sm_90a", False, {}),
    "tl.disable_warp_specialized": (plain, "sm_90a", True, {}),
    "tl.enable_auto_warp_specialization": (half_bulk, "sm_90a", "role_based", {}),
    "tl.gemm_precision": (product_f32, "sm_80", "float32", {}),
    "tl.disable_tma_lower": (plain, "sm_90a", True, {}),
    "tl.disable_wgmma": (plain, "sm_90a", True, {}),
    "tl.enable_async_copy": (plain, "sm_80", False, {}),
    "tirx.use_async_copy": (plain, "sm_80", False, {}),
    "tl.disable_thread_storage_sync": (two_phases, "sm_80", True, {}),
    "tl.disable_safe_memory_legalize": (ragged, "sm_80", True, {}),
    "tl.config_index_bitwidth": (ragged, "sm_80", 32, {}),
    "tirx.disable_vectorize": (even, "sm_80", True, {}),
    "tl.enable_aggressive_shared_memory_merge": (two_tiles, "sm_80", True, {}),
    "tl.disable_shared_memory_reuse": (two_phases, "sm_80", True, {}),
    "tirx.merge_static_smem": (two_phases, "sm_80", False, {}),
    "tirx.disable_storage_rewrite": (two_phases, "sm_80", True, {}),
    "tl.disable_loop_unswitching": (ragged_nest, "cpu", True, {}),
    "tl.loop_unswitching_allow_non_trivial_else": (choice, "sm_80", True, {}),
    "tl.if_stmt_binding_inline_replayable_binds": (selected, "sm_80", False, {}),
    "tl.force_let_inline": (choice, "sm_80", True, {}),
    "tl.layout_cost_model": (mixed_layouts, "sm_80", "io-aware", {}),
    "tl.reducer_force_baseline": (reducer, "sm_80", True, {}),
    "tl.disable_dynamic_tail_split": (ragged, "sm_80", True, {}),
    "tl.dynamic_alignment": (ragged, "sm_80", 1, {"tl.disable_dynamic_tail_split": True}),
    "tl.enable_lower_ldgstg": (even, "sm_80", True, {}),
    "tl.enable_lower_ldgstg_predicated": (ragged, "sm_80", True,
                                          {"tl.disable_dynamic_tail_split": True}),
    "tirx.disable_cse_tir": (lambda: kernel_of("attention.py", "attention"), "cpu", True, {}),
    "tirx.noalias": (two_phases, "sm_80", False, {}),
    "tl.emit_line_directives": (two_phases, "sm_80", True, {}),
    "tl.enable_fast_math": (plain, "sm_80", True, {}),
    "tl.disable_fast_math": (plain, "sm_80", False, {}),
    "tl.ptxas_register_usage_level": (plain, "sm_80", 5, {}),
    "tl.device_compile_flags": (plain, "sm_80", ["-DX=1"], {}),
    "tl.enable_ptxas_verbose_output": (plain, "sm_80", True, {}),
    "tirx.enable_debug": (plain, "sm_80", True, {}),
    "tl.disable_buffer_init_check": (careless, "sm_80", True, {}),
    "tl.disable_data_race_check": (careless, "sm_80", True, {}),
    "tl.disable_out_of_bound_warning": (careless, "sm_80", True, {}),
    "tl.ast_print_enable": (plain, "sm_80", True, {}),
    "tl.debug_merge_shared_memory_allocations": (plain, "sm_80", True, {}),
    "tl.enable_vectorize_planner_verbose": (even, "sm_80", True, {}),
    "tl.enable_reducer_plan_verbose": (reducer, "sm_80", True, {}),
    "tl.layout_visualization_enable": (plain, "sm_80", True, {}),
    "tl.layout_visualization_formats": (plain, "sm_80", "txt",
                                        {"tl.layout_visualization_enable": True}),
    "tl.enable_dump_ir": (plain, "sm_80", True, {}),
    "tl.dump_ir_path": (plain, "sm_80", "there", {"tl.enable_dump_ir": True}),
    "tl.pass_profile": (plain, "sm_80", True, {}),
    "tl.pass_profile_threshold_ms": (plain, "sm_80", 1000000, {"tl.pass_profile": True}),
    "cuda.kernels_output_dir": (plain, "sm_80", "there", {}),
}
TIMED = ("tl.pass_profile", "tl.pass_profile_threshold_ms")  # shown times differ by themselves


def effects(func, arch, configs, timed):
    """All that a compilation lets one see."""
    target = "cuda -arch=" + arch if arch.startswith("sm_") else arch
    said, before = io.StringIO(), os.getcwd()
    with tempfile.TemporaryDirectory() as d, contextlib.redirect_stdout(said), \
            warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        os.chdir(d)
        os.environ["TILELANG_NO_DEVICE_CODE"] = "1"
        try:
            k = tilelang.compile(func, target=target, pass_configs=configs)
        finally:
            del os.environ["TILELANG_NO_DEVICE_CODE"]
            os.chdir(before)
        files = sorted(os.path.join(at, f) for at, _, names in os.walk(d) for f in names)
    shown = said.getvalue().count("\n") if timed else said.getvalue()
    return (k.get_kernel_source(), k.get_plans(), k.get_warnings(), shown,
            [f[len(d):] for f in files]), [str(w.message) for w in told]


def test_every_config():
    rows = {row[0]: row for row in _core.configs()}
    obeyed = [n for n, row in rows.items() if row[3] == "obeyed"]
    assert sorted(CASES) == sorted(obeyed), set(CASES) ^ set(obeyed)
    without, silent = {}, []
    for name in obeyed:
        make, arch, value, others = CASES[name]
        key = make, arch, tuple(others), name in TIMED
        if key not in without:
            without[key] = effects(make(), arch, others, name in TIMED)[0]
        seen, told = effects(make(), arch, {**others, name: value}, name in TIMED)
        if seen == without[key]:
            silent.append(name)
        assert not any("pass config %s is ignored" % name in m for m in told), told
    assert not silent, silent


def test_configs_that_are_ignored_or_refused():
    for name, member, kind, fate, _, _, _, doc in _core.configs():
        value = {"flag": True, "number": 1, "text": "x", "words": "x", "table": {}}[kind]
        if fate == "ignored":
            told = effects(two_phases(), "sm_80", {name: value}, False)[1]
            assert [name in m and doc in m for m in told] == [True], (name, told)
        elif fate == "refused":
            with raises(NotImplementedError, name, doc):
                tilelang.compile(two_phases(), target="cpu", pass_configs={name: value})
    for wrong in ("tl.disable_wgma", "speed", "a.b"):
        with raises(ValueError, "there is no pass config '%s'" % wrong):
            tilelang.compile(two_phases(), target="cpu", pass_configs={wrong: 1})


def test_configs_without_effect_on_a_cpu():
    """What asks for a mechanism that a CPU has not says so, once; what switches one off is obeyed as it is."""
    values = {"tl.persistent_blocks": 64, "tl.cluster": 2, "tl.ping_pong": 1, "tl.staggered_start": True,
              "tl.enable_auto_warp_specialization": "role_based", "tirx.disable_vectorize": True,
              "tl.enable_aggressive_shared_memory_merge": True, "tl.layout_cost_model": "register-count",
              "tl.reducer_force_baseline": True, "tl.disable_dynamic_tail_split": True, "tl.dynamic_alignment": 8,
              "tl.enable_lower_ldgstg": True, "tl.enable_lower_ldgstg_predicated": True, "tl.enable_fast_math": True,
              "tl.ptxas_register_usage_level": 3, "tl.enable_ptxas_verbose_output": True, "tl.device_compile_flags": "-DX",
              "tl.enable_vectorize_planner_verbose": True, "tl.enable_reducer_plan_verbose": True}
    off = {"tl.auto_stages": True, "tl.disable_warp_specialized": True, "tl.disable_tma_lower": True, "tl.stage_stores": False, "tl.persistent_blocks": 0}
    told = effects(even(), "cpu", values, False)[1]
    assert sorted(m.split(" is ignored")[0] for m in told) == sorted("the pass config " + n for n in values), told
    assert not effects(even(), "cpu", off, False)[1]


def test_configs_without_effect_elsewhere():
    """So do targets that have no such instruction, or whose compiler takes no such flag."""
    loads = ["tl.enable_lower_ldgstg", "tl.enable_lower_ldgstg_predicated"]
    roles = ["tl.persistent_blocks"]
    level = ["tl.ptxas_register_usage_level"]
    fast = ["tl.enable_fast_math", "tl.disable_fast_math"]
    tells = ["tl.enable_ptxas_verbose_output", "tirx.enable_debug"]
    flags = ["tl.device_compile_flags"]
    values = {"tl.auto_stages": True, "tl.persistent_blocks": 64, "tl.enable_lower_ldgstg": True,
              "tl.enable_lower_ldgstg_predicated": True, "tl.ptxas_register_usage_level": 0, "tl.enable_fast_math": True,
              "tl.disable_fast_math": False, "tl.enable_ptxas_verbose_output": True, "tirx.enable_debug": True,
              "tl.device_compile_flags": "-DX", "tl.config_index_bitwidth": 64}
    off = {"tl.auto_stages": False, "tl.persistent_blocks": 0, "tl.enable_lower_ldgstg": False, "tl.disable_fast_math": True,
           "tirx.enable_debug": False, "tl.config_index_bitwidth": 32}
    for target, lost in (("cuda -arch=sm_80", []), ("hip -mcpu=gfx942", roles + loads + level),
                         ("opencl", roles + loads + level + tells), ("metal", roles + loads + level + fast + tells + flags),
                         ("webgpu", roles + loads + level + fast + tells + flags + ["tl.config_index_bitwidth"])):
        told = effects(two_phases(), target, values, False)[1]
        assert sorted(m.split(" is ignored")[0] for m in told) == sorted("the pass config " + n for n in lost), (target, told)
        assert not effects(two_phases(), target, off, False)[1], target


def test_stages_on_a_cpu():
    """Kernels for all machines name stages: on a CPU they are no mistake."""
    assert not effects(product(64, 64, 32, 3), "cpu", {}, False)[1]


def test_names_of_before():
    """An alias does what its name of now does."""
    alias = {row[0]: row[7] for row in _core.configs() if row[3] == "alias"}
    assert sorted(alias) == ["tl.start_apart", "tl.stores_apart", "tl.take_turns"]
    for old, now in alias.items():
        make, arch, value, others = CASES[now]
        seen = [effects(make(), arch, {**others, name: value}, False)[0] for name in (old, now)]
        assert seen[0] == seen[1], (old, now)


def test_bits_of_offsets():
    """64 are had where 32 would do, and kept where 32 cannot do."""
    wide = effects(even(), "sm_80", {"tl.config_index_bitwidth": 64}, False)[0][0]
    assert "(int64_t)" in wide.split("__global__")[-1]
    seen, told = effects(large(), "sm_80", {"tl.config_index_bitwidth": 32}, False)
    assert "(int64_t)" in seen[0].split("__global__")[-1]
    assert ["tl.config_index_bitwidth=32 is ignored" in m for m in told] == [True], told


def folds():
    """Reductions and sums so far over four warps, whose parts go through shared memory."""

    @T.prim_func
    def main(A: T.Tensor((512,), "float32"), B: T.Tensor((512,), "float32")):
        with T.Kernel(1, threads=128):
            x = T.alloc_fragment((512,), "float32")
            s = T.alloc_fragment((1,), "float32")
            c = T.alloc_fragment((512,), "float32")
            T.copy(A, x)
            for t in T.serial(3):
                T.reduce_max(x, s)
                for i in T.Parallel(512):
                    x[i] = s[0] - x[i]
            T.cumsum(x, c)
            T.copy(c, B)

    return main


def turned():
    """From one layout of registers to another, and an element that every thread would double."""

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            x = T.alloc_fragment((64, 64), "float32")
            y = T.alloc_fragment((64, 64), "float32")
            two = T.alloc_shared((1,), "float32")
            T.fill(two, 1)
            T.sync_threads()
            two[0] = two[0] * 2
            T.sync_threads()
            T.copy(A, x)
            T.transpose(x, y)
            for i, j in T.Parallel(64, 64):
                y[i, j] = y[i, j] * two[0]
            T.copy(y, B)

    return main


def ahead(stages):
    """Copies run ahead of products; what barriers the kernel can place, it has."""

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 16), "float16")
            b = T.alloc_shared((16, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            o = T.alloc_shared((64, 64), "float16")
            T.clear(c)
            for k in T.Pipelined(4, num_stages=stages):
                T.copy(A[0, k * 16], a)
                T.copy(A[k * 16, 0], b)
                T.sync_threads()
                T.gemm(a, b, c)
                T.sync_threads()
            T.copy(c, o)
            T.sync_threads()
            T.copy(o, B)

    return main


def exchange():
    """Threads by their numbers: barriers are added while the kernel is traced."""

    @T.prim_func
    def main(A: T.Tensor((256,), "float32"), B: T.Tensor((256,), "float32")):
        with T.Kernel(1, threads=256):
            t = T.get_thread_binding()
            s = T.alloc_shared((256,), "float32")
            s[t] = A[t]
            B[t] = s[255 - t]

    return main


def test_barriers_of_threads_by_their_numbers():
    for off in False, True:
        text = effects(exchange(), "sm_80", {"tl.disable_thread_storage_sync": off}, False)[0][0]
        assert ("__syncthreads" in text.split("__global__")[-1]) != off


def test_barriers_that_no_kernel_can_place():
    """Switching off those between a kernel's accesses leaves those inside of operators."""
    configs = {"tl.disable_thread_storage_sync": True}
    bare = effects(two_phases(), "sm_80", {**configs, "tl.disable_shared_memory_reuse": True}, False)
    assert "__syncthreads" not in bare[0][0].split("__global__")[-1]
    square = np.random.default_rng(1).integers(-4, 5, (64, 64)).astype(np.float32)
    row = np.arange(512, dtype=np.float32) % 3 - 1
    x = row
    for _ in range(3):
        x = x.max() - x
    cases = [(folds(), row, np.cumsum(x)), (turned(), square, square.T * 2)]
    cases += [(ahead(n), square.astype(np.float16), square @ square) for n in (0, 2, 3)]
    for arch in "sm_80", "sm_90a":
        for func, a, want in cases:
            k = tilelang.compile(func, target="sim -arch=" + arch, pass_configs=configs)
            got = np.zeros_like(a)
            k(a, got)
            assert np.array_equal(got, want), (func, arch)
