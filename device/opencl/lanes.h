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
