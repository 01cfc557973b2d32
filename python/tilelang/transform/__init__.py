"""Pass configurations by their original names.  Those that name something this compiler does are
honoured; the others are accepted and change nothing (doc/migration.md lists both)."""

import contextlib

_KEYS = """
tl.disable_warp_specialized tl.disable_tma_lower tl.disable_safe_memory_legalize
tl.disable_vectorize_256 tl.enable_ptxas_verbose_output tl.enable_fast_math
tl.enable_aggressive_shared_memory_merge tl.disable_shuffle_elect tl.disable_loop_unswitching
tl.loop_unswitching_allow_non_trivial_else tl.if_stmt_binding_inline_replayable_binds
tl.disable_thread_storage_sync tl.force_let_inline tl.ast_print_enable
tl.layout_visualization_enable tl.layout_visualization_formats tl.storage_rewrite_detect_inplace
tl.ptxas_register_usage_level tl.device_compile_flags tl.config_index_bitwidth
tl.disable_dynamic_tail_split tl.dynamic_vectorize_size_bits tl.simplify tl.disable_fast_math
tl.enable_vectorize_planner_verbose tl.disable_wgmma tl.debug_merge_shared_memory_allocations
tl.disable_rng tl.disable_data_race_check tl.disable_out_of_bound_warning tl.enable_dump_ir
tl.dump_ir_path tl.pass_profile tl.pass_profile_threshold_ms tl.layout_cost_model
tl.enable_lower_ldgstg tl.enable_lower_ldgstg_predicated tl.enable_async_copy
tir.enable_equiv_terms_in_cse_tir tirx.disable_cse_tir tirx.Simplify tirx.disable_storage_rewrite
tirx.disable_vectorize tirx.use_async_copy tirx.enable_debug tirx.merge_static_smem
tirx.add_lower_pass tirx.noalias tir.disable_cse_tir tir.Simplify tir.disable_storage_rewrite
tir.disable_vectorize tir.use_async_copy tir.enable_debug tir.merge_static_smem
tir.add_lower_pass tir.noalias cuda.kernels_output_dir
""".split()


class _Key(str):
    @property
    def value(self):
        return str(self)


class _PassConfigKey(type):
    def __getattr__(cls, name):
        for prefix in ("TL", "TIRX", "TIR", "CUDA"):
            if name.startswith(prefix + "_"):
                key = prefix.lower() + "." + name[len(prefix) + 1 :].lower()
                return _Key({k.lower(): k for k in _KEYS}.get(key, key))
        raise AttributeError("PassConfigKey has no member %r" % name)

    def __iter__(cls):
        return iter(_Key(k) for k in _KEYS)


class PassConfigKey(metaclass=_PassConfigKey):
    """PassConfigKey.TL_ENABLE_FAST_MATH is the key "tl.enable_fast_math"."""


class PassContext(contextlib.AbstractContextManager):
    """Accepted; pass configs are given to tilelang.jit and tilelang.compile."""

    def __init__(self, *args, **keys):
        self.config = keys.get("config") or {}

    def __exit__(self, *why):
        return None


def simplify_prim_func(func):
    """Every kernel is simplified when it is compiled."""
    return func


def get_pass_context():
    return PassContext()
