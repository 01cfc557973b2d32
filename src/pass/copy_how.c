/* copy_how.c -- by what a copy is made in the end: said here, and nowhere else after plan_how.
 *
 * plan_how chooses the best mechanism that can make a copy at all.  Whether a bulk copy stays one
 * depends on what becomes known later.  Plan passes report what they find; what follows from it
 * stands here, and --plans shows it:
 *
 *   plan_warps     copy_piped      a producer issues it into its pipeline: it stays a bulk copy
 *                  copy_unpiped    none does.  It stays where one thread can as well ask for it and
 *                                  all wait; small ones, and those of a pipelined loop, do not:
 *                                  there the threads run ahead with copies of their own,
 *   plan_pipeline  copy_ahead      if they can;
 *                  copy_in_place   else it is a bulk copy after all, where there can be one
 *   plan_banks     copy_by_threads the layout of its tile is none that a bulk copy fills */
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
void copy_unpiped(Kernel *k, const Stmt *copy, bool pipelined, const char *why)
{
    TilePlan *p = tile_plan(k, copy);
    const char *small = too_small(copy);
    bool ahead = pipelined && tile_does(copy, TILE_COPIES);

    p->aside = ahead && !small ? p->how : NULL;
    if (small || ahead)
        p->how = &mech_plain;
    p->why = small && !ahead ? small : ahead ? why : by_one_thread(k, why);
}

void copy_ahead(Kernel *k, const Stmt *copy, const Mech *how, int ahead, const char *why)
{
    TilePlan *p = tile_plan(k, copy);

    p->how = how;
    p->ahead = ahead;
    p->why = why;
}

void copy_in_place(Kernel *k, const Stmt *copy, const char *why)
{
    TilePlan *p = tile_plan(k, copy);

    p->how = p->aside ? p->aside : p->how;
    p->why = p->how->bulk ? by_one_thread(k, why) : why;
}

void copy_by_threads(Kernel *k, const Stmt *copy, const char *why)
{
    TilePlan *p = tile_plan(k, copy);

    p->how = &mech_plain;
    p->why = why;
}
