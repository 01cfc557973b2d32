/* emit_spelling.c -- names of functions and constants in CUDA C. */
#include "target/cuda/emit.h"

static const char *const math_f32[MATH_COUNT] = {
    [MATH_ABS] = "fabsf", [MATH_ACOS] = "acosf", [MATH_ACOSH] = "acoshf", [MATH_ASIN] = "asinf",
    [MATH_ASINH] = "asinhf", [MATH_ATAN] = "atanf", [MATH_ATAN2] = "atan2f", [MATH_ATANH] = "atanhf",
    [MATH_CEIL] = "ceilf", [MATH_COPYSIGN] = "copysignf", [MATH_COS] = "cosf", [MATH_COSH] = "coshf",
    [MATH_ERF] = "erff", [MATH_EXP] = "expf", [MATH_EXP2] = "exp2f", [MATH_EXP10] = "exp10f",
    [MATH_FLOOR] = "floorf", [MATH_FMA] = "fmaf", [MATH_FMOD] = "fmodf", [MATH_HYPOT] = "hypotf",
    [MATH_LDEXP] = "ldexpf", [MATH_LOG] = "logf", [MATH_LOG1P] = "log1pf", [MATH_LOG2] = "log2f",
    [MATH_LOG10] = "log10f", [MATH_NEARBYINT] = "rintf", [MATH_NEXTAFTER] = "nextafterf",
    [MATH_POW] = "powf", [MATH_RCP] = "tl_rcpf", [MATH_ROUND] = "rintf", [MATH_ROUND_AWAY] = "roundf",
    [MATH_RSQRT] = "rsqrtf", [MATH_SIGMOID] = "tl_sigmoidf", [MATH_SIN] = "sinf", [MATH_SINH] = "sinhf",
    [MATH_SQRT] = "sqrtf", [MATH_TAN] = "tanf", [MATH_TANH] = "tanhf", [MATH_TRUNC] = "truncf",
    [MATH_MIN_NAN] = "tl_min_nan_f32", [MATH_MAX_NAN] = "tl_max_nan_f32",
    [MATH_ISFINITE] = "tl_isfinite_f32", [MATH_ISINF] = "tl_isinf_f32", [MATH_ISNAN] = "tl_isnan_f32",
};

static const char *const math_f64[MATH_COUNT] = {
    [MATH_ABS] = "fabs", [MATH_ACOS] = "acos", [MATH_ACOSH] = "acosh", [MATH_ASIN] = "asin",
    [MATH_ASINH] = "asinh", [MATH_ATAN] = "atan", [MATH_ATAN2] = "atan2", [MATH_ATANH] = "atanh",
    [MATH_CEIL] = "ceil", [MATH_COPYSIGN] = "copysign", [MATH_COS] = "cos", [MATH_COSH] = "cosh",
    [MATH_ERF] = "erf", [MATH_EXP] = "exp", [MATH_EXP2] = "exp2", [MATH_EXP10] = "exp10",
    [MATH_FLOOR] = "floor", [MATH_FMA] = "fma", [MATH_FMOD] = "fmod", [MATH_HYPOT] = "hypot",
    [MATH_LDEXP] = "ldexp", [MATH_LOG] = "log", [MATH_LOG1P] = "log1p", [MATH_LOG2] = "log2",
    [MATH_LOG10] = "log10", [MATH_NEARBYINT] = "rint", [MATH_NEXTAFTER] = "nextafter",
    [MATH_POW] = "pow", [MATH_RCP] = "tl_rcp_f64", [MATH_ROUND] = "rint", [MATH_ROUND_AWAY] = "round",
    [MATH_RSQRT] = "rsqrt", [MATH_SIGMOID] = "tl_sigmoid_f64", [MATH_SIN] = "sin", [MATH_SINH] = "sinh",
    [MATH_SQRT] = "sqrt", [MATH_TAN] = "tan", [MATH_TANH] = "tanh", [MATH_TRUNC] = "trunc",
    [MATH_MIN_NAN] = "tl_min_nan_f64", [MATH_MAX_NAN] = "tl_max_nan_f64",
    [MATH_ISFINITE] = "tl_isfinite_f64", [MATH_ISINF] = "tl_isinf_f64", [MATH_ISNAN] = "tl_isnan_f64",
};

const CSpelling cuda_spelling = {
    .math_f32 = math_f32,
    .math_f64 = math_f64,
    .nan_f32 = "__int_as_float(0x7fc00000)",
    .inf_f32 = "__int_as_float(0x7f800000)",
    .nan_f64 = "__longlong_as_double(0x7ff8000000000000LL)",
    .inf_f64 = "__longlong_as_double(0x7ff0000000000000LL)",
    .popcount = {"__popc", "__popcll"},
    .ffs = {"__ffs", "__ffsll"},
    .tests_indices = false,
};
