// wide.wgsl -- integers of 64 bits as two words, the low one first.

fn tl_wide_i32(a: i32) -> vec2<u32> { return vec2<u32>(u32(a), u32(a >> 31u)); }
fn tl_wide_u32(a: u32) -> vec2<u32> { return vec2<u32>(a, 0u); }
fn tl_low(a: vec2<u32>) -> u32 { return a.x; }
fn tl_low_i32(a: vec2<u32>) -> i32 { return i32(a.x); }
fn tl_high(a: vec2<u32>) -> u32 { return a.y; }

fn tl_and_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return a & b; }
fn tl_or_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return a | b; }
fn tl_xor_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return a ^ b; }

fn tl_add_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn tl_sub_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

// All 64 bits of a product of words, by halves.
fn tl_product(a: u32, b: u32) -> vec2<u32> {
    let al = a & 0xffffu;
    let ah = a >> 16u;
    let bl = b & 0xffffu;
    let bh = b >> 16u;
    let middle = ah * bl + ((al * bl) >> 16u);
    let other = al * bh + (middle & 0xffffu);
    return vec2<u32>(a * b, ah * bh + (middle >> 16u) + (other >> 16u));
}

fn tl_mul_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let p = tl_product(a.x, b.x);
    return vec2<u32>(p.x, p.y + a.x * b.y + a.y * b.x);
}

fn tl_neg_64(a: vec2<u32>) -> vec2<u32> { return tl_sub_64(vec2<u32>(0u, 0u), a); }
fn tl_is_below_64(a: vec2<u32>) -> bool { return (a.y >> 31u) != 0u; }
fn tl_abs_i64(a: vec2<u32>) -> vec2<u32> { return select(a, tl_neg_64(a), tl_is_below_64(a)); }

fn tl_eq_64(a: vec2<u32>, b: vec2<u32>) -> bool { return (a.x == b.x) & (a.y == b.y); }
fn tl_lt_u64(a: vec2<u32>, b: vec2<u32>) -> bool { return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x)); }
fn tl_lt_i64(a: vec2<u32>, b: vec2<u32>) -> bool { return (i32(a.y) < i32(b.y)) | ((a.y == b.y) & (a.x < b.x)); }
fn tl_min_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(b, a, tl_lt_u64(a, b)); }
fn tl_max_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(a, b, tl_lt_u64(a, b)); }
fn tl_min_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(b, a, tl_lt_i64(a, b)); }
fn tl_max_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(a, b, tl_lt_i64(a, b)); }

// By any count; a negative one is a large one.
fn tl_count_64(n: vec2<u32>) -> i32 { return i32(select(min(n.x, 64u), 64u, n.y != 0u)); }

fn tl_shl_u64(a: vec2<u32>, by: vec2<u32>) -> vec2<u32> {
    let n = u32(tl_count_64(by));
    let m = n & 31u;
    let over = select(a.x >> (32u - m), 0u, m == 0u);
    let near = vec2<u32>(a.x << m, (a.y << m) | over);
    return select(select(near, vec2<u32>(0u, a.x << m), n >= 32u), vec2<u32>(0u, 0u), n >= 64u);
}

fn tl_shl_i64(a: vec2<u32>, by: vec2<u32>) -> vec2<u32> { return tl_shl_u64(a, by); }

fn tl_shr_u64(a: vec2<u32>, by: vec2<u32>) -> vec2<u32> {
    let n = u32(tl_count_64(by));
    let m = n & 31u;
    let over = select(a.y << (32u - m), 0u, m == 0u);
    let near = vec2<u32>((a.x >> m) | over, a.y >> m);
    return select(select(near, vec2<u32>(a.y >> m, 0u), n >= 32u), vec2<u32>(0u, 0u), n >= 64u);
}

fn tl_shr_i64(a: vec2<u32>, by: vec2<u32>) -> vec2<u32> {
    let flip = vec2<u32>(u32(i32(a.y) >> 31u)); // of a negative one the opposite bits, and back
    return tl_shr_u64(a ^ flip, by) ^ flip;
}

fn tl_clz_64(a: vec2<u32>) -> i32 {
    return i32(select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u));
}

fn tl_popcount_64(a: vec2<u32>) -> u32 { return countOneBits(a.x) + countOneBits(a.y); }

fn tl_ffs_64(a: vec2<u32>) -> i32 {
    let at = select(countTrailingZeros(a.x), 32u + countTrailingZeros(a.y), a.x == 0u);
    return select(i32(at) + 1, 0, tl_eq_64(a, vec2<u32>(0u, 0u)));
}

// A digit of 16 bits of u / v, where v starts at bit 31 and u.y < v; gives it and what is left, `next` behind it.
fn tl_digit_64(u: u32, v: u32, next: u32) -> vec2<u32> {
    let vh = v >> 16u;
    let vl = v & 0xffffu;
    var q = u / vh;
    var r = u - q * vh;
    let much = (q > 0xffffu) | (q * vl > ((r << 16u) | next));
    q = q - select(0u, 1u, much);
    r = r + select(0u, vh, much);
    let still = much & (r < 0x10000u) & ((q > 0xffffu) | (q * vl > ((r << 16u) | next)));
    q = q - select(0u, 1u, still);
    return vec2<u32>(q, ((u << 16u) | next) - q * v);
}

// Quotient and rest of two words by one that starts at bit 31 and is above the high one.
fn tl_divide_32(u: vec2<u32>, v: u32) -> vec2<u32> {
    let a = tl_digit_64(u.y, v, u.x >> 16u);
    let b = tl_digit_64(a.y, v, u.x & 0xffffu);
    return vec2<u32>((a.x << 16u) | b.x, b.y);
}

// Quotient and rest; by 0 the quotient is 0.
fn tl_divide_64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
    let n = countLeadingZeros(select(b.y, b.x, b.y == 0u));
    let by = vec2<u32>(n, 0u);
    if ((b.x | b.y) == 0u) { return vec4<u32>(0u, 0u, a.x, a.y); }
    if ((a.y | b.y) == 0u) { return vec4<u32>(a.x / b.x, 0u, a.x % b.x, 0u); }
    if (b.y == 0u) {
        let high = a.y / b.x;
        let d = tl_divide_32(tl_shl_u64(vec2<u32>(a.x, a.y - high * b.x), by), b.x << n);
        return vec4<u32>(d.x, high, d.y >> n, 0u);
    }
    // By the upper word of b, which is at most one too much.
    let d = tl_divide_32(tl_shr_u64(a, vec2<u32>(1u, 0u)), tl_shl_u64(b, by).y);
    let near = tl_shr_u64(tl_shl_u64(vec2<u32>(d.x, 0u), by), vec2<u32>(31u, 0u)).x;
    let q = near - select(1u, 0u, near == 0u);
    let r = tl_sub_64(a, tl_mul_64(vec2<u32>(q, 0u), b));
    let more = !tl_lt_u64(r, b);
    let left = select(r, tl_sub_64(r, b), more);
    return vec4<u32>(q + select(0u, 1u, more), 0u, left.x, left.y);
}

fn tl_floordiv_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return tl_divide_64(a, b).xy; }
fn tl_truncdiv_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return tl_divide_64(a, b).xy; }

fn tl_rest_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(tl_divide_64(a, b).zw, vec2<u32>(0u, 0u), tl_eq_64(b, vec2<u32>(0u, 0u)));
}

fn tl_floormod_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return tl_rest_64(a, b); }
fn tl_truncmod_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return tl_rest_64(a, b); }

fn tl_truncdiv_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let q = tl_divide_64(tl_abs_i64(a), tl_abs_i64(b)).xy;
    return select(q, tl_neg_64(q), tl_is_below_64(a) != tl_is_below_64(b));
}

fn tl_truncmod_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let r = tl_rest_64(tl_abs_i64(a), tl_abs_i64(b));
    return select(r, tl_neg_64(r), tl_is_below_64(a));
}

fn tl_floormod_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let r = tl_truncmod_i64(a, b);
    let other = !tl_eq_64(r, vec2<u32>(0u, 0u)) & (tl_is_below_64(r) != tl_is_below_64(b));
    return select(r, tl_add_64(r, b), other);
}

fn tl_floordiv_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let r = tl_truncmod_i64(a, b);
    let other = !tl_eq_64(r, vec2<u32>(0u, 0u)) & (tl_is_below_64(r) != tl_is_below_64(b));
    return tl_sub_64(tl_truncdiv_i64(a, b), vec2<u32>(select(0u, 1u, other), 0u));
}

// What there is and what it is multiplied by next, after a bit of the exponent.
fn tl_power_64(p: vec4<u32>, bit: u32) -> vec4<u32> {
    return vec4<u32>(select(p.xy, tl_mul_64(p.xy, p.zw), (bit & 1u) != 0u), tl_mul_64(p.zw, p.zw));
}

fn tl_pow_u64(a: vec2<u32>, n: vec2<u32>) -> vec2<u32> {
    var p = vec4<u32>(1u, 0u, a.x, a.y);
    var left = n;
    while ((left.x | left.y) != 0u) { // four bits at a time: lavapipe counts what loops do
        p = tl_power_64(tl_power_64(p, left.x), left.x >> 1u);
        p = tl_power_64(tl_power_64(p, left.x >> 2u), left.x >> 3u);
        left = tl_shr_u64(left, vec2<u32>(4u, 0u));
    }
    return p.xy;
}

fn tl_pow_i64(a: vec2<u32>, n: vec2<u32>) -> vec2<u32> {
    let one = vec2<u32>(1u, 0u);
    let less = vec2<u32>(0xffffffffu, 0xffffffffu);
    if (!tl_is_below_64(n)) { return tl_pow_u64(a, n); }
    let odd = select(one, less, (n.x & 1u) != 0u);
    return select(select(vec2<u32>(0u, 0u), odd, tl_eq_64(a, less)), one, tl_eq_64(a, one));
}

// The upper 24 bits of a number that starts at bit 63, which n zeros stood before: rounded to nearest, or to odd.
fn tl_scaled_64(a: vec2<u32>, n: i32, odd: bool) -> f32 {
    let m = a.y >> 8u;
    let rest = a.y & 255u;
    let up = (rest > 128u) | ((rest == 128u) & ((a.x != 0u) | ((m & 1u) != 0u)));
    let inexact = (rest | a.x) != 0u;
    return f32(select(m + select(0u, 1u, up), m | select(0u, 1u, inexact), odd)) * exp2(f32(40 - n));
}

fn tl_float_64(a: vec2<u32>, odd: bool) -> f32 {
    let n = tl_clz_64(a);
    return select(tl_scaled_64(tl_shl_u64(a, vec2<u32>(u32(n), 0u)), n, odd), 0.0f, n == 64);
}

fn tl_to_f32_u64(a: vec2<u32>) -> f32 { return tl_float_64(a, false); }
fn tl_odd_u64(a: vec2<u32>) -> f32 { return tl_float_64(a, true); }

fn tl_to_f32_i64(a: vec2<u32>) -> f32 {
    let r = tl_float_64(tl_abs_i64(a), false);
    return select(r, -r, tl_is_below_64(a));
}

fn tl_odd_i64(a: vec2<u32>) -> f32 {
    let r = tl_float_64(tl_abs_i64(a), true);
    return select(r, -r, tl_is_below_64(a));
}

// Toward zero, saturated, NaN gives 0.
fn tl_f32_to_uint64(x: f32) -> vec2<u32> {
    let bits = bitcast<u32>(x);
    let e = i32((bits >> 23u) & 255u) - 150;
    let m = vec2<u32>((bits & 0x7fffffu) | 0x800000u, 0u);
    if ((bits >> 31u) != 0u || tl_isnan(x) || e < -23) { return vec2<u32>(0u, 0u); }
    if (e > 40) { return vec2<u32>(0xffffffffu, 0xffffffffu); }
    if (e < 0) { return tl_shr_u64(m, vec2<u32>(u32(-e), 0u)); }
    return tl_shl_u64(m, vec2<u32>(u32(e), 0u));
}

fn tl_f32_to_int64(x: f32) -> vec2<u32> {
    let a = tl_f32_to_uint64(abs(x));
    let below = (bitcast<u32>(x) >> 31u) != 0u;
    if (tl_isnan(x)) { return vec2<u32>(0u, 0u); }
    if (tl_is_below_64(a)) { return select(vec2<u32>(0xffffffffu, 0x7fffffffu), vec2<u32>(0u, 0x80000000u), below); }
    return select(a, tl_neg_64(a), below);
}
