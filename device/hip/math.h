/* math.h -- functions of the C library by AMD's device library (ocml), and those that the compiler
 * has itself.  Names that hiprtc knows already are shadowed, so that one text suits both. */

extern "C" __device__ float __ocml_acos_f32(float x);
extern "C" __device__ double __ocml_acos_f64(double x);
#define acosf(x) __ocml_acos_f32(x)
#define acos(x) __ocml_acos_f64(x)
extern "C" __device__ float __ocml_acosh_f32(float x);
extern "C" __device__ double __ocml_acosh_f64(double x);
#define acoshf(x) __ocml_acosh_f32(x)
#define acosh(x) __ocml_acosh_f64(x)
extern "C" __device__ float __ocml_asin_f32(float x);
extern "C" __device__ double __ocml_asin_f64(double x);
#define asinf(x) __ocml_asin_f32(x)
#define asin(x) __ocml_asin_f64(x)
extern "C" __device__ float __ocml_asinh_f32(float x);
extern "C" __device__ double __ocml_asinh_f64(double x);
#define asinhf(x) __ocml_asinh_f32(x)
#define asinh(x) __ocml_asinh_f64(x)
extern "C" __device__ float __ocml_atan_f32(float x);
extern "C" __device__ double __ocml_atan_f64(double x);
#define atanf(x) __ocml_atan_f32(x)
#define atan(x) __ocml_atan_f64(x)
extern "C" __device__ float __ocml_atanh_f32(float x);
extern "C" __device__ double __ocml_atanh_f64(double x);
#define atanhf(x) __ocml_atanh_f32(x)
#define atanh(x) __ocml_atanh_f64(x)
extern "C" __device__ float __ocml_cos_f32(float x);
extern "C" __device__ double __ocml_cos_f64(double x);
#define cosf(x) __ocml_cos_f32(x)
#define cos(x) __ocml_cos_f64(x)
extern "C" __device__ float __ocml_cosh_f32(float x);
extern "C" __device__ double __ocml_cosh_f64(double x);
#define coshf(x) __ocml_cosh_f32(x)
#define cosh(x) __ocml_cosh_f64(x)
extern "C" __device__ float __ocml_erf_f32(float x);
extern "C" __device__ double __ocml_erf_f64(double x);
#define erff(x) __ocml_erf_f32(x)
#define erf(x) __ocml_erf_f64(x)
extern "C" __device__ float __ocml_exp_f32(float x);
extern "C" __device__ double __ocml_exp_f64(double x);
#define expf(x) __ocml_exp_f32(x)
#define exp(x) __ocml_exp_f64(x)
extern "C" __device__ float __ocml_exp10_f32(float x);
extern "C" __device__ double __ocml_exp10_f64(double x);
#define exp10f(x) __ocml_exp10_f32(x)
#define exp10(x) __ocml_exp10_f64(x)
extern "C" __device__ float __ocml_log_f32(float x);
extern "C" __device__ double __ocml_log_f64(double x);
#define logf(x) __ocml_log_f32(x)
#define log(x) __ocml_log_f64(x)
extern "C" __device__ float __ocml_log1p_f32(float x);
extern "C" __device__ double __ocml_log1p_f64(double x);
#define log1pf(x) __ocml_log1p_f32(x)
#define log1p(x) __ocml_log1p_f64(x)
extern "C" __device__ float __ocml_log2_f32(float x);
extern "C" __device__ double __ocml_log2_f64(double x);
#define log2f(x) __ocml_log2_f32(x)
#define log2(x) __ocml_log2_f64(x)
extern "C" __device__ float __ocml_log10_f32(float x);
extern "C" __device__ double __ocml_log10_f64(double x);
#define log10f(x) __ocml_log10_f32(x)
#define log10(x) __ocml_log10_f64(x)
extern "C" __device__ float __ocml_sin_f32(float x);
extern "C" __device__ double __ocml_sin_f64(double x);
#define sinf(x) __ocml_sin_f32(x)
#define sin(x) __ocml_sin_f64(x)
extern "C" __device__ float __ocml_sinh_f32(float x);
extern "C" __device__ double __ocml_sinh_f64(double x);
#define sinhf(x) __ocml_sinh_f32(x)
#define sinh(x) __ocml_sinh_f64(x)
extern "C" __device__ float __ocml_tan_f32(float x);
extern "C" __device__ double __ocml_tan_f64(double x);
#define tanf(x) __ocml_tan_f32(x)
#define tan(x) __ocml_tan_f64(x)
extern "C" __device__ float __ocml_tanh_f32(float x);
extern "C" __device__ double __ocml_tanh_f64(double x);
#define tanhf(x) __ocml_tanh_f32(x)
#define tanh(x) __ocml_tanh_f64(x)
extern "C" __device__ float __ocml_atan2_f32(float x, float y);
extern "C" __device__ double __ocml_atan2_f64(double x, double y);
#define atan2f(x, y) __ocml_atan2_f32(x, y)
#define atan2(x, y) __ocml_atan2_f64(x, y)
extern "C" __device__ float __ocml_fmod_f32(float x, float y);
extern "C" __device__ double __ocml_fmod_f64(double x, double y);
#define fmodf(x, y) __ocml_fmod_f32(x, y)
#define fmod(x, y) __ocml_fmod_f64(x, y)
extern "C" __device__ float __ocml_hypot_f32(float x, float y);
extern "C" __device__ double __ocml_hypot_f64(double x, double y);
#define hypotf(x, y) __ocml_hypot_f32(x, y)
#define hypot(x, y) __ocml_hypot_f64(x, y)
extern "C" __device__ float __ocml_nextafter_f32(float x, float y);
extern "C" __device__ double __ocml_nextafter_f64(double x, double y);
#define nextafterf(x, y) __ocml_nextafter_f32(x, y)
#define nextafter(x, y) __ocml_nextafter_f64(x, y)
extern "C" __device__ float __ocml_pow_f32(float x, float y);
extern "C" __device__ double __ocml_pow_f64(double x, double y);
#define powf(x, y) __ocml_pow_f32(x, y)
#define pow(x, y) __ocml_pow_f64(x, y)
extern "C" __device__ double __ocml_exp2_f64(double x);
#define exp2(x) __ocml_exp2_f64(x)
extern "C" __device__ float __ocml_ldexp_f32(float x, int n);
extern "C" __device__ double __ocml_ldexp_f64(double x, int n);
#define ldexpf(x, n) __ocml_ldexp_f32(x, (int)(n))
#define ldexp(x, n) __ocml_ldexp_f64(x, (int)(n))

#define fabsf(x) __builtin_fabsf(x)
#define fabs(x) __builtin_fabs(x)
#define ceilf(x) __builtin_ceilf(x)
#define ceil(x) __builtin_ceil(x)
#define floorf(x) __builtin_floorf(x)
#define floor(x) __builtin_floor(x)
#define truncf(x) __builtin_truncf(x)
#define trunc(x) __builtin_trunc(x)
#define roundf(x) __builtin_roundf(x)
#define round(x) __builtin_round(x)
#define sqrtf(x) __builtin_sqrtf(x)
#define sqrt(x) __builtin_sqrt(x)
#define nearbyintf(x) __builtin_nearbyintf(x)
#define nearbyint(x) __builtin_nearbyint(x)
#define copysignf(x, y) __builtin_copysignf(x, y)
#define copysign(x, y) __builtin_copysign(x, y)
#define fminf(x, y) __builtin_fminf(x, y)
#define fmin(x, y) __builtin_fmin(x, y)
#define fmaxf(x, y) __builtin_fmaxf(x, y)
#define fmax(x, y) __builtin_fmax(x, y)
#define fmaf(x, y, z) __builtin_fmaf(x, y, z)
#define fma(x, y, z) __builtin_fma(x, y, z)
#define isfinite(x) __builtin_isfinite(x)
#define rsqrtf(x) (1.0f / __builtin_sqrtf(x))
#define rsqrt(x) (1.0 / __builtin_sqrt(x))

/* ---- less exact ones -------------------------------------------------------------------------- */

TL_DEVICE float tl_exp2f(float x) { return __builtin_amdgcn_exp2f(x); }
TL_DEVICE float tl_fast_exp(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504f); }
TL_DEVICE float tl_fast_exp10(float x) { return __builtin_amdgcn_exp2f(x * 3.32192809f); }
TL_DEVICE float tl_fast_sin(float x) { return __builtin_amdgcn_sinf(x * 0.159154943f); }
TL_DEVICE float tl_fast_cos(float x) { return __builtin_amdgcn_cosf(x * 0.159154943f); }
#define __expf(x) tl_fast_exp(x)
#define __exp10f(x) tl_fast_exp10(x)
#define __log2f(x) __builtin_amdgcn_logf(x)
#define __logf(x) (__builtin_amdgcn_logf(x) * 0.693147181f)
#define __log10f(x) (__builtin_amdgcn_logf(x) * 0.301029996f)
#define __sinf(x) tl_fast_sin(x)
#define __cosf(x) tl_fast_cos(x)
#define __tanf(x) (tl_fast_sin(x) / tl_fast_cos(x))
namespace tl { TL_DEVICE float fast_rcp(float x) { return __builtin_amdgcn_rcpf(x); }}

/* ---- rounded another way ---------------------------------------------------------------------- */

/* The mode register says how; 1 up, 2 down, 3 toward zero, 0 to nearest.  f32 has its bits 0 and 1,
 * f64 2 and 3. */
#define tl_mode(bit, how) "s_setreg_imm32_b32 hwreg(HW_REG_MODE, " #bit ", 2), " #how "\n\ts_nop 1\n\t"
#define tl_in_mode(bit, how, op) asm volatile(tl_mode(bit, how) op "\n\t" tl_mode(bit, 0)
#define tl_rounded2(T, bit, how, op) [](T x, T y) { T r; tl_in_mode(bit, how, op " %0, %1, %2") : "=v"(r) : "v"(x), "v"(y)); return r; }
#define tl_rounded3(T, bit, how, op) [](T x, T y, T z) { T r; tl_in_mode(bit, how, op " %0, %1, %2, %3") : "=v"(r) : "v"(x), "v"(y), "v"(z)); return r; }

/* The neighbour of q above or below. */
TL_DEVICE float tl_step(float q, bool up)
{
    const uint32_t u = __builtin_bit_cast(uint32_t, q);
    if (q == 0)
        return __builtin_bit_cast(float, up ? 1u : 0x80000001u);
    return __builtin_bit_cast(float, (q > 0) == up ? u + 1 : u - 1);
}
TL_DEVICE double tl_step(double q, bool up)
{
    const uint64_t u = __builtin_bit_cast(uint64_t, q);
    if (q == 0)
        return __builtin_bit_cast(double, up ? 1ull : 0x8000000000000001ull);
    return __builtin_bit_cast(double, (q > 0) == up ? u + 1 : u - 1);
}
/* q is the nearest to a result that is off by the sign of `more`: the one that `how` asks for. */
template <class T> TL_DEVICE T tl_toward(T q, double more, int32_t how)
{
    if (more > 0 && (how == 1 || (how == 3 && q < 0)))
        return tl_step(q, true);
    if (more < 0 && (how == 2 || (how == 3 && q > 0)))
        return tl_step(q, false);
    return q;
}
/* A double has so many more bits that rounding twice is rounding once. */
TL_DEVICE float tl_div_toward(float x, float y, int32_t how)
{
    const double q = (double)x / (double)y;
    return tl_toward((float)q, q - (double)(float)q, how);
}
TL_DEVICE float tl_sqrt_toward(float x, int32_t how)
{
    const double q = __builtin_sqrt((double)x);
    return tl_toward((float)q, q - (double)(float)q, how);
}
TL_DEVICE double tl_div_toward(double x, double y, int32_t how)
{
    const double q = x / y, left = __builtin_fma(-q, y, x);
    return tl_toward(q, y < 0 ? -left : left, how);
}
TL_DEVICE double tl_sqrt_toward(double x, int32_t how)
{
    const double q = __builtin_sqrt(x);
    return tl_toward(q, __builtin_fma(-q, q, x), how);
}
#define __fadd_ru(x, y) (tl_rounded2(float, 0, 1, "v_add_f32")(x, y))
#define __fmul_ru(x, y) (tl_rounded2(float, 0, 1, "v_mul_f32")(x, y))
#define __fsub_ru(x, y) __fadd_ru(x, -(y))
#define __fmaf_ru(x, y, z) (tl_rounded3(float, 0, 1, "v_fma_f32")(x, y, z))
#define __fdiv_ru(x, y) tl_div_toward((float)(x), (float)(y), 1)
#define __frcp_ru(x) tl_div_toward((float)1, (float)(x), 1)
#define __fsqrt_ru(x) tl_sqrt_toward((float)(x), 1)
#define __dadd_ru(x, y) (tl_rounded2(double, 2, 1, "v_add_f64")(x, y))
#define __dmul_ru(x, y) (tl_rounded2(double, 2, 1, "v_mul_f64")(x, y))
#define __dsub_ru(x, y) __dadd_ru(x, -(y))
#define __fma_ru(x, y, z) (tl_rounded3(double, 2, 1, "v_fma_f64")(x, y, z))
#define __ddiv_ru(x, y) tl_div_toward((double)(x), (double)(y), 1)
#define __drcp_ru(x) tl_div_toward((double)1, (double)(x), 1)
#define __dsqrt_ru(x) tl_sqrt_toward((double)(x), 1)
#define __fadd_rd(x, y) (tl_rounded2(float, 0, 2, "v_add_f32")(x, y))
#define __fmul_rd(x, y) (tl_rounded2(float, 0, 2, "v_mul_f32")(x, y))
#define __fsub_rd(x, y) __fadd_rd(x, -(y))
#define __fmaf_rd(x, y, z) (tl_rounded3(float, 0, 2, "v_fma_f32")(x, y, z))
#define __fdiv_rd(x, y) tl_div_toward((float)(x), (float)(y), 2)
#define __frcp_rd(x) tl_div_toward((float)1, (float)(x), 2)
#define __fsqrt_rd(x) tl_sqrt_toward((float)(x), 2)
#define __dadd_rd(x, y) (tl_rounded2(double, 2, 2, "v_add_f64")(x, y))
#define __dmul_rd(x, y) (tl_rounded2(double, 2, 2, "v_mul_f64")(x, y))
#define __dsub_rd(x, y) __dadd_rd(x, -(y))
#define __fma_rd(x, y, z) (tl_rounded3(double, 2, 2, "v_fma_f64")(x, y, z))
#define __ddiv_rd(x, y) tl_div_toward((double)(x), (double)(y), 2)
#define __drcp_rd(x) tl_div_toward((double)1, (double)(x), 2)
#define __dsqrt_rd(x) tl_sqrt_toward((double)(x), 2)
#define __fadd_rz(x, y) (tl_rounded2(float, 0, 3, "v_add_f32")(x, y))
#define __fmul_rz(x, y) (tl_rounded2(float, 0, 3, "v_mul_f32")(x, y))
#define __fsub_rz(x, y) __fadd_rz(x, -(y))
#define __fmaf_rz(x, y, z) (tl_rounded3(float, 0, 3, "v_fma_f32")(x, y, z))
#define __fdiv_rz(x, y) tl_div_toward((float)(x), (float)(y), 3)
#define __frcp_rz(x) tl_div_toward((float)1, (float)(x), 3)
#define __fsqrt_rz(x) tl_sqrt_toward((float)(x), 3)
#define __dadd_rz(x, y) (tl_rounded2(double, 2, 3, "v_add_f64")(x, y))
#define __dmul_rz(x, y) (tl_rounded2(double, 2, 3, "v_mul_f64")(x, y))
#define __dsub_rz(x, y) __dadd_rz(x, -(y))
#define __fma_rz(x, y, z) (tl_rounded3(double, 2, 3, "v_fma_f64")(x, y, z))
#define __ddiv_rz(x, y) tl_div_toward((double)(x), (double)(y), 3)
#define __drcp_rz(x) tl_div_toward((double)1, (double)(x), 3)
#define __dsqrt_rz(x) tl_sqrt_toward((double)(x), 3)
TL_DEVICE float tl_mul_alone(float x, float y)
{
#pragma clang fp contract(off)
    return x * y;
}
TL_DEVICE double tl_mul_alone(double x, double y)
{
#pragma clang fp contract(off)
    return x * y;
}
TL_DEVICE float tl_add_alone(float x, float y)
{
#pragma clang fp contract(off)
    return x + y;
}
TL_DEVICE double tl_add_alone(double x, double y)
{
#pragma clang fp contract(off)
    return x + y;
}
#define __fadd_rn(x, y) tl_add_alone((float)(x), (float)(y))
#define __dadd_rn(x, y) tl_add_alone((double)(x), (double)(y))
#define __fmul_rn(x, y) tl_mul_alone((float)(x), (float)(y))
#define __dmul_rn(x, y) tl_mul_alone((double)(x), (double)(y))
