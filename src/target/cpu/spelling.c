/* spelling.c -- names of functions and constants in C for the CPU. */
#include "target/cpu/emit.h"

static const char *const math_f32[MATH_COUNT] = {
    [MATH_ABS] = "__builtin_fabsf", [MATH_ACOS] = "tl_acosf", [MATH_ACOSH] = "tl_acoshf",
    [MATH_ASIN] = "tl_asinf", [MATH_ASINH] = "tl_asinhf", [MATH_ATAN] = "tl_atanf",
    [MATH_ATAN2] = "tl_atan2f", [MATH_ATANH] = "tl_atanhf", [MATH_CEIL] = "__builtin_ceilf",
    [MATH_COPYSIGN] = "__builtin_copysignf", [MATH_COS] = "tl_cosf", [MATH_COSH] = "tl_coshf",
    [MATH_ERF] = "tl_erff", [MATH_EXP] = "tl_expf", [MATH_EXP2] = "tl_exp2f", [MATH_EXP10] = "tl_exp10f",
    [MATH_FLOOR] = "__builtin_floorf", [MATH_FMA] = "__builtin_fmaf", [MATH_FMOD] = "__builtin_fmodf",
    [MATH_HYPOT] = "__builtin_hypotf", [MATH_LDEXP] = "__builtin_ldexpf", [MATH_LOG] = "tl_logf",
    [MATH_LOG1P] = "tl_log1pf", [MATH_LOG2] = "tl_log2f", [MATH_LOG10] = "tl_log10f",
    [MATH_NEARBYINT] = "__builtin_rintf", [MATH_NEXTAFTER] = "__builtin_nextafterf",
    [MATH_POW] = "tl_powf", [MATH_RCP] = "tl_rcpf", [MATH_ROUND] = "__builtin_rintf",
    [MATH_ROUND_AWAY] = "__builtin_roundf", [MATH_RSQRT] = "tl_rsqrtf", [MATH_SIGMOID] = "tl_sigmoidf",
    [MATH_SIN] = "tl_sinf", [MATH_SINH] = "tl_sinhf", [MATH_SQRT] = "__builtin_sqrtf",
    [MATH_TAN] = "tl_tanf", [MATH_TANH] = "tl_tanhf", [MATH_TRUNC] = "__builtin_truncf",
    [MATH_MIN_NAN] = "tl_min_nan_f32", [MATH_MAX_NAN] = "tl_max_nan_f32",
    [MATH_ISFINITE] = "tl_isfinite_f32", [MATH_ISINF] = "tl_isinf_f32", [MATH_ISNAN] = "tl_isnan_f32",
};

static const char *const math_f64[MATH_COUNT] = {
    [MATH_ABS] = "__builtin_fabs", [MATH_ACOS] = "__builtin_acos", [MATH_ACOSH] = "__builtin_acosh",
    [MATH_ASIN] = "__builtin_asin", [MATH_ASINH] = "__builtin_asinh", [MATH_ATAN] = "__builtin_atan",
    [MATH_ATAN2] = "__builtin_atan2", [MATH_ATANH] = "__builtin_atanh", [MATH_CEIL] = "__builtin_ceil",
    [MATH_COPYSIGN] = "__builtin_copysign", [MATH_COS] = "__builtin_cos", [MATH_COSH] = "__builtin_cosh",
    [MATH_ERF] = "__builtin_erf", [MATH_EXP] = "__builtin_exp", [MATH_EXP2] = "__builtin_exp2",
    [MATH_EXP10] = "tl_exp10_f64", [MATH_FLOOR] = "__builtin_floor", [MATH_FMA] = "__builtin_fma",
    [MATH_FMOD] = "__builtin_fmod", [MATH_HYPOT] = "__builtin_hypot", [MATH_LDEXP] = "__builtin_ldexp",
    [MATH_LOG] = "__builtin_log", [MATH_LOG1P] = "__builtin_log1p", [MATH_LOG2] = "__builtin_log2",
    [MATH_LOG10] = "__builtin_log10", [MATH_NEARBYINT] = "__builtin_rint",
    [MATH_NEXTAFTER] = "__builtin_nextafter", [MATH_POW] = "__builtin_pow", [MATH_RCP] = "tl_rcp_f64",
    [MATH_ROUND] = "__builtin_rint", [MATH_ROUND_AWAY] = "__builtin_round", [MATH_RSQRT] = "tl_rsqrt_f64",
    [MATH_SIGMOID] = "tl_sigmoid_f64", [MATH_SIN] = "__builtin_sin", [MATH_SINH] = "__builtin_sinh",
    [MATH_SQRT] = "__builtin_sqrt", [MATH_TAN] = "__builtin_tan", [MATH_TANH] = "__builtin_tanh",
    [MATH_TRUNC] = "__builtin_trunc", [MATH_MIN_NAN] = "tl_min_nan_f64", [MATH_MAX_NAN] = "tl_max_nan_f64",
    [MATH_ISFINITE] = "tl_isfinite_f64", [MATH_ISINF] = "tl_isinf_f64", [MATH_ISNAN] = "tl_isnan_f64",
};

const CSpelling cpu_spelling = {
    .math_f32 = math_f32,
    .math_f64 = math_f64,
    .nan_f32 = "__builtin_nanf(\"\")",
    .inf_f32 = "__builtin_inff()",
    .nan_f64 = "__builtin_nan(\"\")",
    .inf_f64 = "__builtin_inf()",
    .popcount = {"__builtin_popcount", "__builtin_popcountll"},
    .ffs = {"__builtin_ffs", "__builtin_ffsll"},
    .tests_indices = true,
};
