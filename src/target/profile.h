/* profile.h -- what profiled kernels leave behind: emit_profile.c writes it, api/profile.c reads.
 *
 * tl_trace_KERNEL holds PROFILE_RECORDS numbers for each warp of each of PROFILE_BLOCKS blocks: the
 * wall clock in nanoseconds, the multiprocessor's clock, the block, the multiprocessor; then
 * stamps, clock << PROFILE_SHIFT | 2 * site + end.  Zero: not written. */
#ifndef TL_TARGET_PROFILE_H
#define TL_TARGET_PROFILE_H

enum {
    PROFILE_BLOCKS = 8,
    PROFILE_RECORDS = 1024,
    PROFILE_HEAD = 4,
    PROFILE_SHIFT = 12,
    PROFILE_SITES = 2048,
};

#endif
