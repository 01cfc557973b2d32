// warp.wgsl -- what the threads of a warp hand to each other where no subgroups are: each puts a word, all meet, each reads.
// A warp is 32 threads that follow each other; the last one of a block may have fewer.

fn tl_warp_first() -> u32 { return tl_thread & ~31u; }
fn tl_warp_count() -> u32 { return min(32u, tl_threads - tl_warp_first()); }
fn tl_warp_active() -> u32 { return select((1u << (tl_warp_count() & 31u)) - 1u, 0xffffffffu, tl_warp_count() == 32u); }

// Of a lane that is not there: its own.
fn tl_warp_u32(x: u32, lane: u32) -> u32 {
    let at = tl_warp_first() + lane;
    tl_exchange[tl_thread] = x;
    workgroupBarrier();
    let r = tl_exchange[select(tl_thread, at, at < tl_threads)];
    workgroupBarrier();
    return r;
}

fn tl_warp_i32(x: i32, lane: u32) -> i32 { return bitcast<i32>(tl_warp_u32(bitcast<u32>(x), lane)); }
fn tl_warp_f32(x: f32, lane: u32) -> f32 { return bitcast<f32>(tl_warp_u32(bitcast<u32>(x), lane)); }

fn tl_warp_64(x: vec2<u32>, lane: u32) -> vec2<u32> {
    let low = tl_warp_u32(x.x, lane);
    return vec2<u32>(low, tl_warp_u32(x.y, lane));
}

fn tl_warp_ballot(x: bool) -> u32 {
    tl_exchange[tl_thread] = select(0u, 1u << (tl_thread & 31u), x);
    workgroupBarrier();
    var r = 0u;
    for (var i = 0u; i < tl_warp_count(); i++) { r = r | tl_exchange[tl_warp_first() + i]; }
    workgroupBarrier();
    return r;
}

fn tl_warp_any(x: bool) -> bool { return tl_warp_ballot(x) != 0u; }
fn tl_warp_all(x: bool) -> bool { return tl_warp_ballot(x) == tl_warp_active(); }

// Which lanes have the same.
fn tl_warp_any_u32(x: u32) -> u32 {
    tl_exchange[tl_thread] = x;
    workgroupBarrier();
    var r = 0u;
    for (var i = 0u; i < tl_warp_count(); i++) { r = r | select(0u, 1u << i, tl_exchange[tl_warp_first() + i] == x); }
    workgroupBarrier();
    return r;
}

fn tl_warp_any_i32(x: i32) -> u32 { return tl_warp_any_u32(bitcast<u32>(x)); }

fn tl_warp_any_f32(x: f32) -> u32 { // the two zeros are the same, a NaN is like nobody
    return select(tl_warp_any_u32(select(bitcast<u32>(x), 0u, x == 0.0f)), 0u, tl_isnan(x));
}

fn tl_warp_any_64(x: vec2<u32>) -> u32 {
    let low = tl_warp_any_u32(x.x);
    return low & tl_warp_any_u32(x.y);
}

fn tl_warp_all_u32(x: u32) -> u32 { return select(0u, tl_warp_active(), tl_warp_any_u32(x) == tl_warp_active()); }
fn tl_warp_all_i32(x: i32) -> u32 { return select(0u, tl_warp_active(), tl_warp_any_i32(x) == tl_warp_active()); }
fn tl_warp_all_f32(x: f32) -> u32 { return select(0u, tl_warp_active(), tl_warp_any_f32(x) == tl_warp_active()); }
fn tl_warp_all_64(x: vec2<u32>) -> u32 { return select(0u, tl_warp_active(), tl_warp_any_64(x) == tl_warp_active()); }

fn tl_warp_sum_f32(x: f32) -> f32 {
    tl_exchange[tl_thread] = bitcast<u32>(x);
    workgroupBarrier();
    var r = bitcast<f32>(tl_exchange[tl_warp_first()]);
    for (var i = 1u; i < tl_warp_count(); i++) {
        let y = bitcast<f32>(tl_exchange[tl_warp_first() + i]);
        r = r + y;
    }
    workgroupBarrier();
    return r;
}

fn tl_warp_sum_i32(x: i32) -> i32 {
    tl_exchange[tl_thread] = bitcast<u32>(x);
    workgroupBarrier();
    var r = bitcast<i32>(tl_exchange[tl_warp_first()]);
    for (var i = 1u; i < tl_warp_count(); i++) {
        let y = bitcast<i32>(tl_exchange[tl_warp_first() + i]);
        r = r + y;
    }
    workgroupBarrier();
    return r;
}

fn tl_warp_sum_u32(x: u32) -> u32 {
    tl_exchange[tl_thread] = bitcast<u32>(x);
    workgroupBarrier();
    var r = bitcast<u32>(tl_exchange[tl_warp_first()]);
    for (var i = 1u; i < tl_warp_count(); i++) {
        let y = bitcast<u32>(tl_exchange[tl_warp_first() + i]);
        r = r + y;
    }
    workgroupBarrier();
    return r;
}

fn tl_warp_max_f32(x: f32) -> f32 {
    tl_exchange[tl_thread] = bitcast<u32>(x);
    workgroupBarrier();
    var r = bitcast<f32>(tl_exchange[tl_warp_first()]);
    for (var i = 1u; i < tl_warp_count(); i++) {
        let y = bitcast<f32>(tl_exchange[tl_warp_first() + i]);
        r = tl_max_f32(r, y);
    }
    workgroupBarrier();
    return r;
}

fn tl_warp_max_i32(x: i32) -> i32 {
    tl_exchange[tl_thread] = bitcast<u32>(x);
    workgroupBarrier();
    var r = bitcast<i32>(tl_exchange[tl_warp_first()]);
    for (var i = 1u; i < tl_warp_count(); i++) {
        let y = bitcast<i32>(tl_exchange[tl_warp_first() + i]);
        r = tl_max_i32(r, y);
    }
    workgroupBarrier();
    return r;
}

fn tl_warp_max_u32(x: u32) -> u32 {
    tl_exchange[tl_thread] = bitcast<u32>(x);
    workgroupBarrier();
    var r = bitcast<u32>(tl_exchange[tl_warp_first()]);
    for (var i = 1u; i < tl_warp_count(); i++) {
        let y = bitcast<u32>(tl_exchange[tl_warp_first() + i]);
        r = tl_max_u32(r, y);
    }
    workgroupBarrier();
    return r;
}

fn tl_warp_min_f32(x: f32) -> f32 {
    tl_exchange[tl_thread] = bitcast<u32>(x);
    workgroupBarrier();
    var r = bitcast<f32>(tl_exchange[tl_warp_first()]);
    for (var i = 1u; i < tl_warp_count(); i++) {
        let y = bitcast<f32>(tl_exchange[tl_warp_first() + i]);
        r = tl_min_f32(r, y);
    }
    workgroupBarrier();
    return r;
}

fn tl_warp_min_i32(x: i32) -> i32 {
    tl_exchange[tl_thread] = bitcast<u32>(x);
    workgroupBarrier();
    var r = bitcast<i32>(tl_exchange[tl_warp_first()]);
    for (var i = 1u; i < tl_warp_count(); i++) {
        let y = bitcast<i32>(tl_exchange[tl_warp_first() + i]);
        r = tl_min_i32(r, y);
    }
    workgroupBarrier();
    return r;
}

fn tl_warp_min_u32(x: u32) -> u32 {
    tl_exchange[tl_thread] = bitcast<u32>(x);
    workgroupBarrier();
    var r = bitcast<u32>(tl_exchange[tl_warp_first()]);
    for (var i = 1u; i < tl_warp_count(); i++) {
        let y = bitcast<u32>(tl_exchange[tl_warp_first() + i]);
        r = tl_min_u32(r, y);
    }
    workgroupBarrier();
    return r;
}

fn tl_warp_and_i32(x: i32) -> i32 {
    tl_exchange[tl_thread] = bitcast<u32>(x);
    workgroupBarrier();
    var r = bitcast<i32>(tl_exchange[tl_warp_first()]);
    for (var i = 1u; i < tl_warp_count(); i++) {
        let y = bitcast<i32>(tl_exchange[tl_warp_first() + i]);
        r = r & y;
    }
    workgroupBarrier();
    return r;
}

fn tl_warp_and_u32(x: u32) -> u32 {
    tl_exchange[tl_thread] = bitcast<u32>(x);
    workgroupBarrier();
    var r = bitcast<u32>(tl_exchange[tl_warp_first()]);
    for (var i = 1u; i < tl_warp_count(); i++) {
        let y = bitcast<u32>(tl_exchange[tl_warp_first() + i]);
        r = r & y;
    }
    workgroupBarrier();
    return r;
}

fn tl_warp_or_i32(x: i32) -> i32 {
    tl_exchange[tl_thread] = bitcast<u32>(x);
    workgroupBarrier();
    var r = bitcast<i32>(tl_exchange[tl_warp_first()]);
    for (var i = 1u; i < tl_warp_count(); i++) {
        let y = bitcast<i32>(tl_exchange[tl_warp_first() + i]);
        r = r | y;
    }
    workgroupBarrier();
    return r;
}

fn tl_warp_or_u32(x: u32) -> u32 {
    tl_exchange[tl_thread] = bitcast<u32>(x);
    workgroupBarrier();
    var r = bitcast<u32>(tl_exchange[tl_warp_first()]);
    for (var i = 1u; i < tl_warp_count(); i++) {
        let y = bitcast<u32>(tl_exchange[tl_warp_first() + i]);
        r = r | y;
    }
    workgroupBarrier();
    return r;
}
