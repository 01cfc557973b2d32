// random.wgsl -- T.rng_* with Philox 4x32-10, by words of 32 bits.
// State: words 0 to 3 that were drawn, 4 the next of them, then block, stream and seed, low word first.

fn tl_mulhi(a: u32, b: u32) -> u32 {
    let low = (a & 65535u) * (b & 65535u);
    let x = (a >> 16u) * (b & 65535u) + (low >> 16u);
    let y = (a & 65535u) * (b >> 16u) + (x & 65535u);
    return (a >> 16u) * (b >> 16u) + (x >> 16u) + (y >> 16u);
}

fn tl_words_i32(x: i32) -> vec2<u32> { return vec2<u32>(u32(x), u32(x >> 31u)); }

fn tl_rng_fill(t: ptr<function, array<u32, 11>>) {
    var c = vec4<u32>((*t)[5], (*t)[6], (*t)[7], (*t)[8]);
    var k = vec2<u32>((*t)[9], (*t)[10]);
    for (var i = 0; i < 10; i++) {
        let a = tl_mulhi(0xD2511F53u, c.x) ^ c.w ^ k.y;
        let b = tl_mulhi(0xCD9E8D57u, c.z) ^ c.y ^ k.x;
        c = vec4<u32>(b, 0xCD9E8D57u * c.z, a, 0xD2511F53u * c.x);
        k += vec2<u32>(0x9E3779B9u, 0xBB67AE85u);
    }
    (*t)[0] = c.x;
    (*t)[1] = c.y;
    (*t)[2] = c.z;
    (*t)[3] = c.w;
}

fn tl_rng_init(t: ptr<function, array<u32, 11>>, seed: vec2<u32>, stream: vec2<u32>, at: vec2<u32>) {
    (*t)[4] = at.x & 3u;
    (*t)[5] = (at.x >> 2u) | (at.y << 30u);
    (*t)[6] = at.y >> 2u;
    (*t)[7] = stream.x;
    (*t)[8] = stream.y;
    (*t)[9] = seed.x;
    (*t)[10] = seed.y;
    tl_rng_fill(t);
}

fn tl_rng_next(t: ptr<function, array<u32, 11>>) -> u32 {
    let i = (*t)[4];
    if (i == 0u) { tl_rng_fill(t); }
    (*t)[4] = (i + 1u) & 3u;
    if (i == 3u) {
        (*t)[5] += 1u;
        (*t)[6] += select(0u, 1u, (*t)[5] == 0u);
    }
    return (*t)[i];
}

// (2 x + 1) / 2^33, in (0, 1], rounded by whole numbers: the odd number is a tie only if one bit goes.
fn tl_rng_uniform(t: ptr<function, array<u32, 11>>) -> f32 {
    let x = tl_rng_next(t);
    let n = 32u - countLeadingZeros(x);
    if (n < 24u) { return f32(2u * x + 1u) * bitcast<f32>(94u << 23u); }
    let gone = n - 23u;
    let q = x >> (gone - 1u);
    let up = select((x >> ((gone - 2u) & 31u)) & 1u, q & 1u, gone == 1u);
    return f32(q + up) * bitcast<f32>((94u + gone) << 23u);
}

fn tl_rng_normal(t: ptr<function, array<u32, 11>>) -> f32 {
    let u = tl_rng_uniform(t);
    let v = tl_rng_uniform(t);
    return sqrt(-2.0 * log(u)) * sin(6.2831853 * v);
}
