"""Pass configurations by their original names.  Those that name something this compiler does are
honoured; the others are accepted and change nothing (doc/migration.md lists both)."""

import contextlib
import functools
import enum

_TL = """
disable_buffer_init_check disable_data_race_check disable_prelower_semantic_check
disable_warp_specialized enable_fast_math ptxas_register_usage_level device_compile_flags
emit_line_directives config_index_bitwidth enable_reducer_plan_verbose layout_cost_model
reducer_force_baseline disable_tma_lower disable_vectorize_256 enable_async_copy
enable_lower_ldgstg enable_lower_ldgstg_predicated enable_vectorize_planner_verbose disable_wgmma
debug_merge_shared_memory_allocations enable_aggressive_shared_memory_merge
disable_shared_memory_reuse disable_shuffle_elect disable_loop_unswitching
loop_unswitching_allow_non_trivial_else if_stmt_binding_inline_replayable_binds
disable_thread_storage_sync force_let_inline ast_print_enable layout_visualization_enable
layout_visualization_formats storage_rewrite_detect_inplace disable_out_of_bound_warning
enable_dump_ir pass_profile pass_profile_threshold_ms
""".split()
_OTHERS = {
    "TL_SIMPLIFY": "tl.Simplify",
    "TL_DISABLE_SAFE_MEMORY_ACCESS": "tl.disable_safe_memory_legalize",
    "TL_DUMP_IR_DIR": "tl.dump_ir_path",
    "TL_SIMPLIFY_TRANSITIVELY_PROVE_INEQUALITIES": "transitively_prove_inequalities",
    "TL_SIMPLIFY_CONVERT_BOOLEAN_TO_AND_OF_ORS": "convert_boolean_to_and_of_ors",
    "TL_SIMPLIFY_APPLY_CONSTRAINTS_TO_BOOLEAN_BRANCHES": "apply_constraints_to_boolean_branches",
    "TL_SIMPLIFY_PROPAGATE_KNOWNS_TO_PROVE_CONDITIONAL": "propagate_knowns_to_prove_conditional",
    "TL_SIMPLIFY_PROPAGATE_KNOWNS_TO_SIMPLIFY_EXPRESSIONS":
        "propagate_knowns_to_simplify_expressions",
    "TL_SIMPLIFY_ENABLE_LET_INLINE": "enable_simplify_let_inline",
    "TIR_ENABLE_EQUIV_TERMS_IN_CSE": "tir.enable_equiv_terms_in_cse_tir",
    "TIR_DISABLE_CSE": "tirx.disable_cse_tir",
    "TIR_SIMPLIFY": "tirx.Simplify",
    "CUDA_KERNELS_OUTPUT_DIR": "cuda.kernels_output_dir",
}
_TIR = """disable_storage_rewrite disable_vectorize use_async_copy enable_debug merge_static_smem
add_lower_pass noalias""".split()


class _Keys(enum.EnumMeta):
    def __getattr__(cls, name):
        """Keys of other versions are strings of the same form."""
        for prefix in ("TL", "TIRX", "TIR", "CUDA"):
            if name.startswith(prefix + "_"):
                return _Other(prefix.lower() + "." + name[len(prefix) + 1 :].lower())
        raise AttributeError("PassConfigKey has no member %r" % name)


class _Other(str):
    @property
    def value(self):
        return str(self)


class _Key(str, enum.Enum, metaclass=_Keys):
    def __str__(self):
        return self.value

    __hash__ = str.__hash__


# PassConfigKey.TL_ENABLE_FAST_MATH is the key "tl.enable_fast_math".
PassConfigKey = _Key("PassConfigKey", {
    **{"TL_" + n.upper(): "tl." + n for n in _TL},
    **{"TIR_" + n.upper(): "tirx." + n for n in _TIR}, **_OTHERS}, module=__name__)


class PassContext(contextlib.AbstractContextManager):
    """Accepted; pass configs are given to tilelang.jit and tilelang.compile."""

    def __init__(self, *args, **keys):
        self.config = keys.get("config") or {}

    def __exit__(self, *why):
        return None


def simplify_prim_func(func):
    """A kernel function, or what gives one, without the tensors that it does not touch.  All else is
    simplified when it is compiled."""
    from ..language import PrimFunc

    if isinstance(func, PrimFunc):
        return func.without_unused()

    @functools.wraps(func)
    def simplified(*args, **keys):
        made = func(*args, **keys)
        return simplify_prim_func(made) if isinstance(made, PrimFunc) else made

    return simplified


def get_pass_context():
    return PassContext()
