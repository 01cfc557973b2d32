/* copy_how.c -- by what a copy is made in the end: said here, and nowhere else after plan_how.
 *
 * plan_how chooses the best mechanism that can make a copy at all.  A bulk copy that a producer
 * issues into its pipeline stays one.  For the others it is decided in plan_pipeline, once:
 *
 *   it runs ahead       in a loop with stages, where the threads can: by copies of their own
 *   it is small         the threads make it, each its part
 *   else                one thread asks for it and all wait; in a loop with stages that
 *                       plan_pipeline has nothing to say about, the threads make it
 *
 *   plan_warps     copy_piped, copy_unpiped           what it found; nothing is decided
 *   plan_pipeline  copy_ahead, copy_in_place, copy_settle
 *   plan_banks     copy_by_threads                    no bulk copy fills the layout of its tile */
#include "pass/async_copy.h"

enum { LEAST_BYTES = 1024 };

/* Before less than this is worth a bulk copy, every thread has its part. */
static const char *too_small(const Stmt *copy)
{
    const Region *r = &copy->u.tile.region[1];
    bool small = dtype_bytes(r->buf->type, region_nelem(r)) < LEAST_BYTES;
    return small ? "too small for one thread to ask for it and all to wait" : NULL;
}

static const char *by_one_thread(Kernel *k, const char *why)
{
    return arena_printf(k->arena, "a bulk copy that one thread issues: %s", why);
}

void copy_piped(Kernel *k, const Stmt *copy, int pipe)
{
    tile_plan(k, copy)->pipe = pipe;
}

/* Pixels of an image are not copied ahead by threads. */
void copy_unpiped(Kernel *k, const Stmt *copy, bool staged, const char *why)
{
    TilePlan *p = tile_plan(k, copy);

    p->alone = staged && tile_does(copy, TILE_COPIES) ? ALONE_STAGED : ALONE_ONCE;
    p->why = why;
}

bool copy_may_run_ahead(Kernel *k, const Stmt *copy)
{
    const TilePlan *p = tile_plan(k, copy);
    bool small = p->alone && too_small(copy);

    return !p->pipe && (p->how->own_loops || p->alone == ALONE_STAGED || small);
}

void copy_ahead(Kernel *k, const Stmt *copy, const Mech *how, int ahead, const char *why)
{
    TilePlan *p = tile_plan(k, copy);

    p->how = how;
    p->ahead = ahead;
    p->why = why;
    p->alone = ALONE_NO;
}

void copy_in_place(Kernel *k, const Stmt *copy, const char *why)
{
    TilePlan *p = tile_plan(k, copy);

    if (p->alone && too_small(copy))
        p->how = &mech_plain;
    p->why = p->how->bulk ? by_one_thread(k, why) : why;
    p->alone = ALONE_NO;
}

void copy_settle(Kernel *k, const Stmt *copy)
{
    TilePlan *p = tile_plan(k, copy);
    const char *small = too_small(copy);

    if (p->alone == ALONE_STAGED || small)
        p->how = &mech_plain;
    if (p->alone == ALONE_ONCE)
        p->why = small ? small : by_one_thread(k, p->why);
    p->alone = ALONE_NO;
}

void copy_by_threads(Kernel *k, const Stmt *copy, const char *why)
{
    TilePlan *p = tile_plan(k, copy);

    p->how = &mech_plain;
    p->why = why;
}
