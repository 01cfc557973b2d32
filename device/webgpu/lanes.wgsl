// lanes.wgsl -- whose value a thread of a subgroup takes: of the part of `width` threads that it is in, or its own.

fn tl_part(width: i32) -> i32 { return tl_lane & -width; }

fn tl_inside(at: i32, width: i32) -> u32 {
    let first = tl_part(width);
    return u32(select(tl_lane, at, (at >= first) & (at < first + width)));
}

fn tl_lane_of(at: i32, width: i32) -> u32 { return u32(tl_part(width) | (at & (width - 1))); }

fn tl_lane_xor(by: i32, width: i32) -> u32 { return tl_inside(tl_lane ^ by, width); }

fn tl_lane_down(by: i32, width: i32) -> u32 { return tl_inside(tl_lane + by, width); }

fn tl_lane_up(by: i32, width: i32) -> u32 { return tl_inside(tl_lane - by, width); }

// Which lanes have the same, of up to 32.
fn tl_lanes_any_u32(x: u32) -> u32 {
    let here = subgroupBallot(true).x;
    var r = 0u;
    for (var i = 0u; i < 32u; i++) { r = r | select(0u, 1u << i, subgroupShuffle(x, i) == x); }
    return r & here;
}

fn tl_lanes_any_i32(x: i32) -> u32 { return tl_lanes_any_u32(bitcast<u32>(x)); }

fn tl_lanes_any_f32(x: f32) -> u32 { // the two zeros are the same, a NaN is like nobody
    return select(tl_lanes_any_u32(select(bitcast<u32>(x), 0u, x == 0.0f)), 0u, tl_isnan(x));
}

fn tl_lanes_any_64(x: vec2<u32>) -> u32 {
    let low = tl_lanes_any_u32(x.x);
    return low & tl_lanes_any_u32(x.y);
}

fn tl_lanes_whole(same: u32) -> u32 {
    let here = subgroupBallot(true).x;
    return select(0u, here, same == here);
}

fn tl_lanes_all_u32(x: u32) -> u32 { return tl_lanes_whole(tl_lanes_any_u32(x)); }
fn tl_lanes_all_i32(x: i32) -> u32 { return tl_lanes_whole(tl_lanes_any_i32(x)); }
fn tl_lanes_all_f32(x: f32) -> u32 { return tl_lanes_whole(tl_lanes_any_f32(x)); }
fn tl_lanes_all_64(x: vec2<u32>) -> u32 { return tl_lanes_whole(tl_lanes_any_64(x)); }
