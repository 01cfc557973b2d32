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
