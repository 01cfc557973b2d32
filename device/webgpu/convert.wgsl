// convert.wgsl -- between f32 and narrow floats, whose codes are low bits of words.
//
// Whole numbers alone: rounding to nearest, ties to even, whatever the adapter does with floats.  Casts to fp8 and fp4
// saturate, to f16 and bf16 they overflow to infinity.  A NaN stays one where the format has one.  No branches, && and || among
// them: a kernel has hundreds of these, and the time that some compilers take grows with the square of the branches.

// |x| by its bits as a code of `mant` digits and exponents of `bias`; past the largest number it goes on counting.
fn tl_encode(mag: u32, mant: u32, bias: i32) -> u32 {
    let e = i32(mag >> 23u) - 127 + bias;
    let m = (mag & 0x7fffffu) | 0x800000u;
    let drop = min(23u - mant + u32(max(1 - e, 0)), 25u); // all of them
    let half = 1u << (drop - 1u);
    let rest = m & ((1u << drop) - 1u);
    let q = m >> drop;
    let up = rest > half || (rest == half && (q & 1u) == 1u);
    return select(0u, u32(e - 1) << mant, e > 0) + q + select(0u, 1u, up);
}

fn tl_decode(code: u32, mant: u32, bias: i32) -> f32 {
    let small = f32(code) * bitcast<f32>(u32(1 - bias - i32(mant) + 127) << 23u);
    return select(bitcast<f32>((code << (23u - mant)) + (u32(127 - bias) << 23u)), small, code < (1u << mant));
}

fn tl_sign(x: f32, at: u32) -> u32 { return (bitcast<u32>(x) >> 31u) << at; }

fn tl_signed(u: u32, code: u32, at: u32) -> f32 { return bitcast<f32>(u | (((code >> at) & 1u) << 31u)); }

fn tl_f32_to_f16(x: f32) -> u32 {
    let mag = bitcast<u32>(x) & 0x7fffffffu;
    let h = min(tl_encode(min(mag, 0x4f000000u), 10u, 15), 0x7c00u);
    return select(h, 0x7e00u | ((mag >> 13u) & 0x1ffu), mag > 0x7f800000u) | tl_sign(x, 15u);
}

fn tl_f16_to_f32(h: u32) -> f32 {
    let mag = h & 0x7fffu;
    return tl_signed(select(bitcast<u32>(tl_decode(mag, 10u, 15)), 0x7f800000u | (mag << 13u), mag >= 0x7c00u), h, 15u);
}

fn tl_f32_to_bf16(x: f32) -> u32 {
    let u = bitcast<u32>(x);
    return select((u + 0x7fffu + ((u >> 16u) & 1u)) >> 16u, (u >> 16u) | 0x40u, (u & 0x7fffffffu) > 0x7f800000u);
}

fn tl_bf16_to_f32(h: u32) -> f32 { return bitcast<f32>(h << 16u); }

fn tl_round_tf32(x: f32) -> f32 {
    let u = bitcast<u32>(x);
    return bitcast<f32>(select((u + 0xfffu + ((u >> 13u) & 1u)) & 0xffffe000u, u, (u & 0x7fffffffu) >= 0x7f800000u));
}

// Saturated at `most`; `nan` where x is one.
fn tl_narrow(x: f32, mant: u32, bias: i32, most: u32, nan: u32) -> u32 {
    let mag = bitcast<u32>(x) & 0x7fffffffu;
    return select(min(tl_encode(min(mag, 0x4f000000u), mant, bias), most), nan, mag > 0x7f800000u);
}

fn tl_widen(b: u32, mant: u32, bias: i32, special: u32, as_bits: u32) -> f32 {
    let mag = b & 0x7fu;
    return tl_signed(select(bitcast<u32>(tl_decode(mag, mant, bias)), as_bits, mag >= special), b, 7u);
}

// One zero, and the only NaN where the other would be.
fn tl_fnuz(x: f32, mag: u32) -> u32 { return mag | select(0u, tl_sign(x, 7u), mag != 0u); }

// No sign on a NaN.
fn tl_below(x: f32) -> u32 { return select(tl_sign(x, 0u), 0u, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u); }

fn tl_f32_to_e4m3fn(x: f32) -> u32 { return tl_narrow(x, 3u, 7, 0x7eu, 0x7fu) | tl_sign(x, 7u); }
fn tl_f32_to_e5m2(x: f32) -> u32 { return tl_narrow(x, 2u, 15, 0x7bu, 0x7fu) | tl_sign(x, 7u); }
fn tl_f32_to_e3m4(x: f32) -> u32 { return tl_narrow(x, 4u, 3, 0x6fu, 0x78u) | tl_sign(x, 7u); }
fn tl_f32_to_e4m3fnuz(x: f32) -> u32 { return tl_fnuz(x, tl_narrow(x, 3u, 8, 0x7fu, 0x80u)); }
fn tl_f32_to_e5m2fnuz(x: f32) -> u32 { return tl_fnuz(x, tl_narrow(x, 2u, 16, 0x7fu, 0x80u)); }
fn tl_f32_to_e4m3b11fnuz(x: f32) -> u32 { return tl_fnuz(x, tl_narrow(x, 3u, 11, 0x7fu, 0x80u)); }
fn tl_f32_to_e2m3(x: f32) -> u32 { return tl_narrow(x, 3u, 1, 0x1fu, 0x1fu) | (tl_below(x) << 5u); }
fn tl_e2m3_to_f32(b: u32) -> f32 { return tl_signed(bitcast<u32>(tl_decode(b & 0x1fu, 3u, 1)), b, 5u); }
fn tl_f32_to_e3m2(x: f32) -> u32 { return tl_narrow(x, 2u, 3, 0x1fu, 0x1fu) | (tl_below(x) << 5u); }
fn tl_e3m2_to_f32(b: u32) -> f32 { return tl_signed(bitcast<u32>(tl_decode(b & 0x1fu, 2u, 3)), b, 5u); }
fn tl_f32_to_e2m1(x: f32) -> u32 { return tl_narrow(x, 1u, 1, 0x7u, 0x7u) | (tl_below(x) << 3u); }
fn tl_e2m1_to_f32(b: u32) -> f32 { return tl_signed(bitcast<u32>(tl_decode(b & 0x7u, 1u, 1)), b, 3u); }
fn tl_e4m3fn_to_f32(b: u32) -> f32 { return tl_widen(b, 3u, 7, 0x7fu, 0x7fc00000u); }
fn tl_e5m2_to_f32(b: u32) -> f32 { return tl_widen(b, 2u, 15, 0x7cu, select(0x7f800000u, 0x7fc00000u, (b & 3u) != 0u)); }
fn tl_e3m4_to_f32(b: u32) -> f32 { return tl_widen(b, 4u, 3, 0x70u, select(0x7f800000u, 0x7fc00000u, (b & 15u) != 0u)); }
fn tl_e4m3fnuz_to_f32(b: u32) -> f32 { return bitcast<f32>(select(bitcast<u32>(tl_widen(b, 3u, 8, 0x80u, 0u)), 0x7fc00000u, (b & 0xffu) == 0x80u)); }
fn tl_e5m2fnuz_to_f32(b: u32) -> f32 { return bitcast<f32>(select(bitcast<u32>(tl_widen(b, 2u, 16, 0x80u, 0u)), 0x7fc00000u, (b & 0xffu) == 0x80u)); }
fn tl_e4m3b11fnuz_to_f32(b: u32) -> f32 { return bitcast<f32>(select(bitcast<u32>(tl_widen(b, 3u, 11, 0x80u, 0u)), 0x7fc00000u, (b & 0xffu) == 0x80u)); }

fn tl_f32_to_e8m0(x: f32) -> u32 {
    let u = bitcast<u32>(x);
    let mag = u & 0x7fffffffu;
    let exponent = mag >> 23u;
    let half = select(0x600000u, 0x400000u, exponent != 0u);
    let part = mag & 0x7fffffu;
    let up = part > half || (part == half && (exponent & 1u) == 1u);
    return select(min(exponent + select(0u, 1u, up), 254u), 255u, mag > 0x7f800000u || (mag != 0u && mag != u));
}

fn tl_e8m0_to_f32(b: u32) -> f32 {
    return bitcast<f32>(select(select(0x400000u, b << 23u, b != 0u), 0x7fc00000u, b == 255u));
}

// Codes of numbers of a type that has infinities, where a conversion would saturate.
fn tl_keep_e5m2(x: f32) -> u32 {
    return select(tl_f32_to_e5m2(x), 0x7cu | tl_sign(x, 7u), (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u);
}

fn tl_keep_e3m4(x: f32) -> u32 {
    return select(tl_f32_to_e3m4(x), 0x70u | tl_sign(x, 7u), (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u);
}

fn tl_round_f16(x: f32) -> f32 { return tl_f16_to_f32(tl_f32_to_f16(x)); }
fn tl_round_bf16(x: f32) -> f32 { return tl_bf16_to_f32(tl_f32_to_bf16(x)); }
fn tl_round_e4m3fn(x: f32) -> f32 { return tl_e4m3fn_to_f32(tl_f32_to_e4m3fn(x)); }
fn tl_round_e4m3fnuz(x: f32) -> f32 { return tl_e4m3fnuz_to_f32(tl_f32_to_e4m3fnuz(x)); }
fn tl_round_e5m2(x: f32) -> f32 { return tl_e5m2_to_f32(tl_f32_to_e5m2(x)); }
fn tl_round_e5m2fnuz(x: f32) -> f32 { return tl_e5m2fnuz_to_f32(tl_f32_to_e5m2fnuz(x)); }
fn tl_round_e3m4(x: f32) -> f32 { return tl_e3m4_to_f32(tl_f32_to_e3m4(x)); }
fn tl_round_e4m3b11fnuz(x: f32) -> f32 { return tl_e4m3b11fnuz_to_f32(tl_f32_to_e4m3b11fnuz(x)); }
fn tl_round_e2m3(x: f32) -> f32 { return tl_e2m3_to_f32(tl_f32_to_e2m3(x)); }
fn tl_round_e3m2(x: f32) -> f32 { return tl_e3m2_to_f32(tl_f32_to_e3m2(x)); }
fn tl_round_e8m0(x: f32) -> f32 { return tl_e8m0_to_f32(tl_f32_to_e8m0(x)); }
fn tl_round_e2m1(x: f32) -> f32 { return tl_e2m1_to_f32(tl_f32_to_e2m1(x)); }

// To odd: what f32 cannot hold sets its last bit, so that rounding it to fewer bits after this is rounding once.
fn tl_odd_u32(x: u32) -> f32 {
    let spare = 8u - min(countLeadingZeros(x), 8u);
    let low = x & ((1u << spare) - 1u);
    return f32((x - low) | select(0u, 1u << spare, low != 0u));
}

fn tl_odd_i32(x: i32) -> f32 {
    let r = tl_odd_u32(select(u32(x), u32(-x), x < 0));
    return select(r, -r, x < 0);
}

// x of at most 11 digits is .x * 2^.y, without its sign, the highest bit of .x being bit 29; 0 is 0.
fn tl_apart(x: f32) -> vec2<i32> {
    let u = bitcast<u32>(x) & 0x7fffffffu;
    let m = ((u & 0x7fffffu) | select(0u, 0x800000u, u > 0x7fffffu)) >> 13u;
    let by = i32(countLeadingZeros(m)) - 2;
    return vec2<i32>(i32(m << u32(by & 31)), max(i32(u >> 23u), 1) - 137 - by);
}

fn tl_power(e: i32) -> f32 { return bitcast<f32>(u32(clamp(e, -126, 127) + 127) << 23u); }

// a * b + c, to odd, of numbers of at most 11 digits: in whole numbers, since sums of floats may be reordered.
fn tl_fma_odd(a: f32, b: f32, c: f32) -> f32 {
    if (!(tl_isfinite(a) && tl_isfinite(b) && tl_isfinite(c)) || a == 0.0f || b == 0.0f) { return a * b + c; }
    let x = tl_apart(a);
    let y = tl_apart(b);
    let p = u32(x.x >> 19u) * u32(y.x >> 19u);
    let by = i32(countLeadingZeros(p)) - 2;
    var one = vec2<i32>(i32(p << u32(by)), x.y + y.y + 38 - by);
    var two = tl_apart(c);
    var below = (a < 0.0f) != (b < 0.0f);
    let apart = below != (c < 0.0f) && two.x != 0;
    if (two.x != 0 && (one.y < two.y || (one.y == two.y && one.x < two.x))) {
        let t = one;
        one = two;
        two = t;
        below = c < 0.0f;
    }
    let down = u32(min(one.y - two.y, 31));
    let lost = (u32(two.x) & ((1u << down) - 1u)) != 0u;
    let small = select((u32(two.x) >> down) | select(0u, 1u, lost), 0u, two.x == 0);
    let sum = tl_odd_u32(select(u32(one.x) + small, u32(one.x) - small, apart));
    let e = clamp(one.y, -250, 250);
    let r = sum * tl_power(e / 2) * tl_power(e - e / 2);
    return select(r, -r, below);
}
