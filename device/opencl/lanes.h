/* lanes.h -- threads of a subgroup hand values to each other (cl_khr_subgroup_shuffle).  Parts of
 * `width` lanes are by themselves: past the end of its part a lane keeps its own. */

#define tl_lane() ((int32_t)get_sub_group_local_id())
#define tl_part(width) (tl_lane() & ~((width) - 1))
#define tl_lane_of(x, from, width) sub_group_shuffle(x, (uint32_t)(tl_part(width) | ((from) & ((width) - 1))))
#define tl_lane_xor(x, by, width) sub_group_shuffle(x, tl_inside(tl_lane() ^ (by), width))
#define tl_lane_down(x, by, width) sub_group_shuffle(x, tl_inside(tl_lane() + (by), width))
#define tl_lane_up(x, by, width) sub_group_shuffle(x, tl_inside(tl_lane() - (by), width))
TL_DEVICE uint32_t tl_inside(int32_t from, int32_t width)
{
    return (uint32_t)(from < tl_part(width) || from >= tl_part(width) + width ? tl_lane() : from);
}

/* Lanes that come by and say yes (cl_khr_subgroup_ballot). */
TL_DEVICE uint64_t tl_ballot(bool yes)
{
    const uint4 r = sub_group_ballot(yes);
    return (uint64_t)r.x | (uint64_t)r.y << 32;
}

/* Lanes with the same number; all of them if all have it. */
TL_DEVICE uint32_t tl_match_any(int64_t x)
{
    uint32_t r = 0;
    for (uint32_t i = 0; i < get_sub_group_size() && i < 32; i++)
        r |= (uint32_t)(sub_group_shuffle(x, i) == x) << i;
    return r;
}

TL_DEVICE uint32_t tl_match_all(int64_t x)
{
    const uint32_t r = tl_match_any(x), n = get_sub_group_size();
    return r == (uint32_t)-1 >> (n < 32 ? 32 - n : 0) ? r : 0;
}

/* Sums (op 0), maxima (1), minima (2), bits that all have (3) and that any has (4). */
TL_DEVICE float tl_join_f32(float a, float b, int32_t op)
{
    return op == 0 ? a + b : op == 1 ? tl_max_f32(a, b) : tl_min_f32(a, b);
}

TL_DEVICE double tl_join_f64(double a, double b, int32_t op)
{
    return op == 0 ? a + b : op == 1 ? tl_max_f64(a, b) : tl_min_f64(a, b);
}

TL_DEVICE uint64_t tl_join_u64(uint64_t a, uint64_t b, int32_t op)
{
    return op == 0 ? a + b : op == 1 ? tl_max_u64(a, b) : op == 2 ? tl_min_u64(a, b) : op == 3 ? a & b : a | b;
}

TL_DEVICE int64_t tl_join_i64(int64_t a, int64_t b, int32_t op)
{
    return op == 1 ? tl_max_i64(a, b) : op == 2 ? tl_min_i64(a, b) : (int64_t)tl_join_u64((uint64_t)a, (uint64_t)b, op);
}

/* The first lane joins all that there are, and tells the others. */
TL_DEVICE float tl_warp_f32(float x, int32_t op)
{
    for (int32_t by = TL_LANES / 2; by > 0; by /= 2) {
        const float y = sub_group_shuffle(x, (uint32_t)(tl_lane() ^ by));
        x = (uint32_t)(tl_lane() ^ by) < get_sub_group_size() ? tl_join_f32(x, y, op) : x;
    }
    return sub_group_shuffle(x, 0u);
}

TL_DEVICE double tl_warp_f64(double x, int32_t op)
{
    for (int32_t by = TL_LANES / 2; by > 0; by /= 2) {
        const double y = sub_group_shuffle(x, (uint32_t)(tl_lane() ^ by));
        x = (uint32_t)(tl_lane() ^ by) < get_sub_group_size() ? tl_join_f64(x, y, op) : x;
    }
    return sub_group_shuffle(x, 0u);
}

TL_DEVICE int64_t tl_warp_i64(int64_t x, int32_t op)
{
    for (int32_t by = TL_LANES / 2; by > 0; by /= 2) {
        const int64_t y = sub_group_shuffle(x, (uint32_t)(tl_lane() ^ by));
        x = (uint32_t)(tl_lane() ^ by) < get_sub_group_size() ? tl_join_i64(x, y, op) : x;
    }
    return sub_group_shuffle(x, 0u);
}

TL_DEVICE uint64_t tl_warp_u64(uint64_t x, int32_t op)
{
    for (int32_t by = TL_LANES / 2; by > 0; by /= 2) {
        const uint64_t y = sub_group_shuffle(x, (uint32_t)(tl_lane() ^ by));
        x = (uint32_t)(tl_lane() ^ by) < get_sub_group_size() ? tl_join_u64(x, y, op) : x;
    }
    return sub_group_shuffle(x, 0u);
}
