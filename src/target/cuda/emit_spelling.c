/* emit_spelling.c -- names of functions and constants in CUDA C. */
#include "target/cuda/emit.h"

const char *const cuda_math_f32[MATH_COUNT] = {
    [MATH_ABS] = "fabsf",
    [MATH_ACOS] = "acosf",
    [MATH_ACOSH] = "acoshf",
    [MATH_ASIN] = "asinf",
    [MATH_ASINH] = "asinhf",
    [MATH_ATAN] = "atanf",
    [MATH_ATAN2] = "atan2f",
    [MATH_ATANH] = "atanhf",
    [MATH_CEIL] = "ceilf",
    [MATH_COPYSIGN] = "copysignf",
    [MATH_COS] = "cosf",
    [MATH_COSH] = "coshf",
    [MATH_ERF] = "erff",
    [MATH_EXP] = "expf",
    [MATH_EXP2] = "tl_exp2f",
    [MATH_EXP10] = "exp10f",
    [MATH_FLOOR] = "floorf",
    [MATH_FMA] = "fmaf",
    [MATH_FMOD] = "fmodf",
    [MATH_HYPOT] = "hypotf",
    [MATH_LDEXP] = "ldexpf",
    [MATH_LOG] = "logf",
    [MATH_LOG1P] = "log1pf",
    [MATH_LOG2] = "log2f",
    [MATH_LOG10] = "log10f",
    [MATH_NEARBYINT] = "nearbyintf",
    [MATH_NEXTAFTER] = "nextafterf",
    [MATH_POW] = "powf",
    [MATH_RCP] = "tl_rcpf",
    [MATH_ROUND] = "nearbyintf",
    [MATH_ROUND_AWAY] = "roundf",
    [MATH_RSQRT] = "rsqrtf",
    [MATH_SIGMOID] = "tl_sigmoidf",
    [MATH_SIN] = "sinf",
    [MATH_SINH] = "sinhf",
    [MATH_SQRT] = "sqrtf",
    [MATH_TAN] = "tanf",
    [MATH_TANH] = "tanhf",
    [MATH_TRUNC] = "truncf",
    [MATH_MIN_NAN] = "tl_min_nan_f32",
    [MATH_MAX_NAN] = "tl_max_nan_f32",
    [MATH_ISFINITE] = "isfinite",
    [MATH_ISINF] = "tl_isinf_f32",
    [MATH_ISNAN] = "tl_isnan_f32",
    [MATH_FAST_EXP] = "__expf",
    [MATH_FAST_EXP10] = "__exp10f",
    [MATH_FAST_LOG] = "__logf",
    [MATH_FAST_LOG2] = "__log2f",
    [MATH_FAST_LOG10] = "__log10f",
    [MATH_FAST_SIN] = "__sinf",
    [MATH_FAST_COS] = "__cosf",
    [MATH_FAST_TAN] = "__tanf",
    [MATH_FAST_RCP] = "tl::fast_rcp",
    [MATH_ADD_RZ] = "__fadd_rz",
    [MATH_ADD_RU] = "__fadd_ru",
    [MATH_ADD_RD] = "__fadd_rd",
    [MATH_SUB_RZ] = "__fsub_rz",
    [MATH_SUB_RU] = "__fsub_ru",
    [MATH_SUB_RD] = "__fsub_rd",
    [MATH_MUL_RN] = "__fmul_rn",
    [MATH_ADD_RN] = "__fadd_rn",
    [MATH_MUL_RZ] = "__fmul_rz",
    [MATH_MUL_RU] = "__fmul_ru",
    [MATH_MUL_RD] = "__fmul_rd",
    [MATH_DIV_RZ] = "__fdiv_rz",
    [MATH_DIV_RU] = "__fdiv_ru",
    [MATH_DIV_RD] = "__fdiv_rd",
    [MATH_FMAF_RZ] = "__fmaf_rz",
    [MATH_FMAF_RU] = "__fmaf_ru",
    [MATH_FMAF_RD] = "__fmaf_rd",
    [MATH_RECIP_RZ] = "__frcp_rz",
    [MATH_RECIP_RU] = "__frcp_ru",
    [MATH_RECIP_RD] = "__frcp_rd",
    [MATH_ROOT_RZ] = "__fsqrt_rz",
    [MATH_ROOT_RU] = "__fsqrt_ru",
    [MATH_ROOT_RD] = "__fsqrt_rd",
};

const char *const cuda_math_f64[MATH_COUNT] = {
    [MATH_ABS] = "fabs",
    [MATH_ACOS] = "acos",
    [MATH_ACOSH] = "acosh",
    [MATH_ASIN] = "asin",
    [MATH_ASINH] = "asinh",
    [MATH_ATAN] = "atan",
    [MATH_ATAN2] = "atan2",
    [MATH_ATANH] = "atanh",
    [MATH_CEIL] = "ceil",
    [MATH_COPYSIGN] = "copysign",
    [MATH_COS] = "cos",
    [MATH_COSH] = "cosh",
    [MATH_ERF] = "erf",
    [MATH_EXP] = "exp",
    [MATH_EXP2] = "exp2",
    [MATH_EXP10] = "exp10",
    [MATH_FLOOR] = "floor",
    [MATH_FMA] = "fma",
    [MATH_FMOD] = "fmod",
    [MATH_HYPOT] = "hypot",
    [MATH_LDEXP] = "ldexp",
    [MATH_LOG] = "log",
    [MATH_LOG1P] = "log1p",
    [MATH_LOG2] = "log2",
    [MATH_LOG10] = "log10",
    [MATH_NEARBYINT] = "nearbyint",
    [MATH_NEXTAFTER] = "nextafter",
    [MATH_POW] = "pow",
    [MATH_RCP] = "tl_rcp_f64",
    [MATH_ROUND] = "nearbyint",
    [MATH_ROUND_AWAY] = "round",
    [MATH_RSQRT] = "rsqrt",
    [MATH_SIGMOID] = "tl_sigmoid_f64",
    [MATH_SIN] = "sin",
    [MATH_SINH] = "sinh",
    [MATH_SQRT] = "sqrt",
    [MATH_TAN] = "tan",
    [MATH_TANH] = "tanh",
    [MATH_TRUNC] = "trunc",
    [MATH_MIN_NAN] = "tl_min_nan_f64",
    [MATH_MAX_NAN] = "tl_max_nan_f64",
    [MATH_ISFINITE] = "isfinite",
    [MATH_ISINF] = "tl_isinf_f64",
    [MATH_ISNAN] = "tl_isnan_f64",
    [MATH_FAST_EXP] = "exp",
    [MATH_FAST_EXP10] = "exp10",
    [MATH_FAST_LOG] = "log",
    [MATH_FAST_LOG2] = "log2",
    [MATH_FAST_LOG10] = "log10",
    [MATH_FAST_SIN] = "sin",
    [MATH_FAST_COS] = "cos",
    [MATH_FAST_TAN] = "tan",
    [MATH_FAST_RCP] = "tl_rcp_f64",
    [MATH_ADD_RZ] = "__dadd_rz",
    [MATH_ADD_RU] = "__dadd_ru",
    [MATH_ADD_RD] = "__dadd_rd",
    [MATH_SUB_RZ] = "__dsub_rz",
    [MATH_SUB_RU] = "__dsub_ru",
    [MATH_SUB_RD] = "__dsub_rd",
    [MATH_MUL_RN] = "__dmul_rn",
    [MATH_ADD_RN] = "__dadd_rn",
    [MATH_MUL_RZ] = "__dmul_rz",
    [MATH_MUL_RU] = "__dmul_ru",
    [MATH_MUL_RD] = "__dmul_rd",
    [MATH_DIV_RZ] = "__ddiv_rz",
    [MATH_DIV_RU] = "__ddiv_ru",
    [MATH_DIV_RD] = "__ddiv_rd",
    [MATH_FMAF_RZ] = "__fma_rz",
    [MATH_FMAF_RU] = "__fma_ru",
    [MATH_FMAF_RD] = "__fma_rd",
    [MATH_RECIP_RZ] = "__drcp_rz",
    [MATH_RECIP_RU] = "__drcp_ru",
    [MATH_RECIP_RD] = "__drcp_rd",
    [MATH_ROOT_RZ] = "__dsqrt_rz",
    [MATH_ROOT_RU] = "__dsqrt_ru",
    [MATH_ROOT_RD] = "__dsqrt_rd",
};

static bool emit_own(Emit *e, const Stmt *s)
{
    Cuda *c = cuda_of(e);

    if (e->spec->profile && cuda_emit_profiled(c, s))
        return true;
    if (s->kind != ST_IF || !cuda_is_where(c, s))
        return false;
    cuda_emit_where(c, s);
    return true;
}

/* Floats of a byte in registers are decoded two at a time, which costs what one does: the compiler
 * below sees that both of a pair are asked for, once loops are unrolled. */
static bool emit_decoded(Emit *e, const Buffer *b, const Expr *at)
{
    bool pairs = e->spec->machine.level >= 89 && (b->type == DT_E4M3 || b->type == DT_E5M2);

    if (!pairs || !cuda_is_register(b) || cuda_is_packed(cuda_of(e), b) ||
        stored_elems(e->k, b) % 2)
        return false;
    str_printf(e->out, "tl_%s_at(%s, ", narrow_name(b->type), buffer_name(e, b));
    emit_loose(e, at);
    str_putc(e->out, ')');
    return true;
}

void cuda_emit_fail(Emit *e, const Stmt *s)
{
    str_puts(e->out, "tl_fail(");
    emit_assert_text(e, s);
    str_puts(e->out, ");\n");
}

const Dialect cuda_dialect = {
    .name = "CUDA C",
    DIALECT_C,
    .value_type = c_value_type,
    .constant = "const $t $n = ",
    .math_f32 = cuda_math_f32,
    .math_f64 = cuda_math_f64,
    .nan_f32 = "__int_as_float(0x7fc00000)",
    .inf_f32 = "__int_as_float(0x7f800000)",
    .nan_f64 = "__longlong_as_double(0x7ff8000000000000LL)",
    .inf_f64 = "__longlong_as_double(0x7ff0000000000000LL)",
    .popcount = {"__popc", "__popcll"},
    .ffs = {"__ffs", "__ffsll"},
    .fns = "__fns",
    .ldg = "__ldg",
    .neg_i16 = "tl_neg_i16",
    .half_ops = true,
    .above_zero = "tl_above_zero_i32",
    .and_or = "tl_and_or_u32",
    .decoded = emit_decoded,
    .own = emit_own,
    .declare = cuda_emit_decl,
    .fail = cuda_emit_fail,
    .loop = cuda_emit_for,
    .store = cuda_emit_store,
    .atomic = cuda_emit_atomic,
    .call = cuda_emit_call,
    .instr = cuda_emit_instr,
    .role = cuda_emit_role,
};
