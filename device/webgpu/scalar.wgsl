// scalar.wgsl -- what kernels call and WGSL has not, or not quite: divisions that floor, shifts by any count, functions of floats.
// What kernels call often has no branches: see convert.wgsl.

fn tl_floordiv_i32(a: i32, b: i32) -> i32 {
    let d = select(b, 1, (b == 0) | (b == -1));
    let q = a / d;
    let r = a - q * d;
    return select(select(q, 0, b == 0), -a, b == -1) - select(0, 1, (r != 0) & ((r < 0) != (b < 0)));
}

fn tl_floormod_i32(a: i32, b: i32) -> i32 {
    let r = a % select(b, 1, (b == 0) | (b == -1));
    return r + select(0, b, (r != 0) & ((r < 0) != (b < 0)));
}

fn tl_truncdiv_i32(a: i32, b: i32) -> i32 {
    let q = a / select(b, 1, (b == 0) | (b == -1));
    return select(select(q, 0, b == 0), -a, b == -1);
}

fn tl_truncmod_i32(a: i32, b: i32) -> i32 {
    return a % select(b, 1, (b == 0) | (b == -1));
}

fn tl_div_u32(a: u32, b: u32) -> u32 {
    return select(a / select(b, 1u, b == 0u), 0u, b == 0u);
}

fn tl_mod_u32(a: u32, b: u32) -> u32 {
    return a % select(b, 1u, b == 0u);
}

fn tl_min_i32(a: i32, b: i32) -> i32 { return min(a, b); }
fn tl_max_i32(a: i32, b: i32) -> i32 { return max(a, b); }
fn tl_min_u32(a: u32, b: u32) -> u32 { return min(a, b); }
fn tl_max_u32(a: u32, b: u32) -> u32 { return max(a, b); }
fn tl_abs_i32(a: i32) -> i32 { return select(a, -a, a < 0); }
fn tl_clz_u32(a: u32) -> i32 { return i32(countLeadingZeros(a)); }
fn tl_popcount(a: u32) -> i32 { return i32(countOneBits(a)); }

// By any count; a negative one is a large one.
fn tl_shl_u32(a: u32, n: u32) -> u32 { return select(0u, a << (n & 31u), n < 32u); }
fn tl_shr_u32(a: u32, n: u32) -> u32 { return select(0u, a >> (n & 31u), n < 32u); }
fn tl_shl_i32(a: i32, n: i32) -> i32 { return select(0, a << (u32(n) & 31u), u32(n) < 32u); }
fn tl_shr_i32(a: i32, n: i32) -> i32 { return a >> min(u32(n), 31u); }

fn tl_pow_i32(a: i32, n: i32) -> i32 {
    if (n < 0) {
        return select(select(0, select(1, -1, n % 2 != 0), a == -1), 1, a == 1);
    }
    var r = 1;
    var b = a;
    for (var left = n; left > 0; left = left >> 1u) {
        if ((left & 1) != 0) { r = r * b; }
        b = b * b;
    }
    return r;
}

fn tl_pow_u32(a: u32, n: u32) -> u32 {
    var r = 1u;
    var b = a;
    for (var left = n; left > 0u; left = left >> 1u) {
        if ((left & 1u) != 0u) { r = r * b; }
        b = b * b;
    }
    return r;
}

// A NaN is told by its bits: comparisons may be thought to have no such operand.
fn tl_isnan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn tl_isinf(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u; }
fn tl_isfinite(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u; }

// WGSL lets a compiler assume that nothing is infinite or NaN: x * 0 becomes 0. So a kernel sets tl_none to 0 by what is known
// when it runs alone, and numbers that such a rule would take are made with it.
fn tl_value(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ tl_none); }
fn tl_inf() -> f32 { return bitcast<f32>(0x7f800000u ^ tl_none); }
fn tl_nan() -> f32 { return bitcast<f32>(0x7fc00000u ^ tl_none); }

fn tl_min_f32(a: f32, b: f32) -> f32 { return select(b, a, (a < b) | tl_isnan(b)); }
fn tl_max_f32(a: f32, b: f32) -> f32 { return select(b, a, (a > b) | tl_isnan(b)); }
fn tl_min_nan_f32(a: f32, b: f32) -> f32 { return select(b, a, (a < b) | tl_isnan(a)); }
fn tl_max_nan_f32(a: f32, b: f32) -> f32 { return select(b, a, (a > b) | tl_isnan(a)); }

fn tl_rcp(x: f32) -> f32 { return 1.0f / x; }
fn tl_exp10(x: f32) -> f32 { return exp2(x * 3.3219280949f); }
fn tl_log10(x: f32) -> f32 { return log2(x) * 0.30102999566f; }
fn tl_sigmoid(x: f32) -> f32 { return 1.0f / (1.0f + exp(-x)); }
fn tl_hypot(x: f32, y: f32) -> f32 { return sqrt(x * x + y * y); }
fn tl_round_away(x: f32) -> f32 { return sign(x) * floor(abs(x) + 0.5f); }
fn tl_ldexp(x: f32, n: f32) -> f32 { return x * exp2(n); }

// The next number from x towards y.
fn tl_nextafter(x: f32, y: f32) -> f32 {
    let u = bitcast<u32>(x);
    if (tl_isnan(x) || tl_isnan(y)) { return tl_nan(); }
    if (x == y) { return y; }
    if ((u & 0x7fffffffu) == 0u) { return bitcast<f32>((bitcast<u32>(y) & 0x80000000u) | 1u); }
    return bitcast<f32>(select(u - 1u, u + 1u, (x < y) == (x > 0.0f)));
}

// A product that no sum is contracted with: its bits are put down in between.
fn tl_mul_rn(a: f32, b: f32) -> f32 {
    var bits = bitcast<u32>(a * b);
    return bitcast<f32>(bits);
}

fn tl_copysign(x: f32, y: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(y) & 0x80000000u));
}

// What is added to 1 without its rounding.
fn tl_log1p(x: f32) -> f32 {
    let u = 1.0f + x;
    if (u == 1.0f) { return x; }
    return log(u) * (x / (u - 1.0f));
}

// The language's own may overflow on the way.
fn tl_tanh(x: f32) -> f32 { return tanh(clamp(x, -15.0f, 15.0f)); }

fn tl_fmod(a: f32, b: f32) -> f32 { return tl_copysign(abs(a) - abs(b) * floor(abs(a) / abs(b)), a); }

fn tl_floormod_f32(a: f32, b: f32) -> f32 {
    let r = tl_fmod(a, b);
    return select(r, r + b, (r != 0.0f) & ((r < 0.0f) != (b < 0.0f)));
}

// pow of the language takes no negative base.
fn tl_pow_f32(x: f32, y: f32) -> f32 {
    if (y == 0.0f || x == 1.0f) { return 1.0f; }
    if (x == 0.0f) { return select(tl_inf(), 0.0f, y > 0.0f); }
    let r = exp2(y * log2(abs(x)));
    if (x > 0.0f) { return r; }
    if (y != floor(y)) { return tl_nan(); }
    return select(r, -r, abs(y) - 2.0f * floor(abs(y) * 0.5f) == 1.0f);
}

// Error below 2e-7: the series near 0, a rational of exp(-x*x) elsewhere (Abramowitz and Stegun 7.1.26 and 7.1.5).
fn tl_erf(x: f32) -> f32 {
    let a = abs(x);
    let z = a * a;
    if (a < 0.5f) {
        return x * (1.1283791671f + z * (-0.3761263890f + z * (0.1128379167f + z * (-0.0268661706f + z * 0.0052239776f))));
    }
    let t = 1.0f / (1.0f + 0.3275911f * a);
    let p = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    return tl_copysign(1.0f - p * exp(-z), x);
}

// First set bit counted from 1, 0 if none.
fn tl_ffs(a: i32) -> i32 { return select(i32(countTrailingZeros(u32(a))) + 1, 0, a == 0); }

// The n-th set bit from base on, up or down; the one at base for n = 0.
fn tl_fns(mask: u32, base: u32, offset: u32) -> u32 {
    let n = i32(offset);
    if (n == 0) {
        return select(0xffffffffu, base, base < 32u && ((mask >> (base & 31u)) & 1u) != 0u);
    }
    let step = select(1, -1, n < 0);
    var left = abs(n);
    for (var at = i32(base); at >= 0 && at < 32; at = at + step) {
        if (((mask >> u32(at)) & 1u) != 0u) {
            left = left - 1;
            if (left == 0) { return u32(at); }
        }
    }
    return 0xffffffffu;
}

fn tl_f32_to_bits(x: f32) -> u32 { return bitcast<u32>(x); }
fn tl_bits_to_f32(u: u32) -> f32 { return bitcast<f32>(u); }

// Toward zero, saturated, NaN gives 0.
fn tl_f32_to_int32(x: f32) -> i32 {
    if (tl_isnan(x)) { return 0; }
    if (x >= 2147483648.0f) { return 2147483647; }
    if (x <= -2147483648.0f) { return i32(-2147483648); }
    return i32(x);
}

fn tl_f32_to_uint32(x: f32) -> u32 {
    if (tl_isnan(x) || x <= 0.0f) { return 0u; }
    if (x >= 4294967296.0f) { return 4294967295u; }
    return u32(x);
}
