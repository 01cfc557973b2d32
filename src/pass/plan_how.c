/* plan_how.c -- choose the mechanism of every tile operator.  Chosen here and nowhere else.
 *
 * needs   FORM_NORMAL, FORM_SIMPLE    regions are comparable
 * gives   FORM_HOW
 *
 * The target's rows are asked one after the other, best first; what none of them can do is done by
 * the operator's own loops. */
#include "pass/pass.h"
#include "pass/plan_how.h"
#include "pass/thread_group.h"
#include "ir/config.h"

/* The first of the target's mechanisms of this step that can.  *why: its reason, or where nobody
 * can, or the one that can is the one for all others, that of the last before it.  lost: the first
 * that should have been able to. */
static const Mech *first_that_can(Kernel *k, ThreadGroup who, const Stmt *t, MechStep step,
                                  const char **why, Lost *lost)
{
    for (const Mech *const *m = k->target->mechs; m && *m; m++) {
        const char *own = NULL;
        if ((*m)->step != step || !mech_does(*m, t->u.tile.op) || !kernel_has(k, (*m)->needs))
            continue;
        bool can = !(*m)->can || (*m)->can(k, who, t, &own);
        if (own || (can && (*m)->can))
            *why = own;
        if (can)
            return *m;
        if (!lost->how && own && (*m)->suits && (*m)->suits(k, t))
            *lost = (Lost){*m, own};
    }
    return NULL;
}

void plan_mechanism(Kernel *k, ThreadGroup who, const Stmt *t, MechStep step)
{
    const char *why = NULL;
    Lost lost = {0};
    const Mech *m = first_that_can(k, who, t, step, &why, &lost);
    TilePlan *p = tile_plan(k, t);

    if (!m && step != MECH_HOW)
        return;
    p->lost = lost;
    p->how = m ? m : &mech_plain;
    p->why = m || why ? why : "the operator's own loops";
    p->isa = NULL;
    p->staged = 0;
    if (m && m->plan)
        m->plan(k, who, t);
}

bool has_mechanism(Kernel *k, ThreadGroup who, const Stmt *t)
{
    const char *why = NULL;
    Lost lost = {0};
    const Mech *m = first_that_can(k, who, t, MECH_HOW, &why, &lost);

    return m && !m->own_loops;
}

bool is_mma_in_flight(Kernel *k, const Stmt *s)
{
    return tile_does(s, TILE_MMA) && tile_plan(k, s)->how->in_flight;
}

const char *tile_text(Kernel *k, const Stmt *s)
{
    Str t;

    str_init(&t, k->arena);
    str_puts(&t, s->u.tile.op->name);
    for (int i = 0; i < s->u.tile.nregion; i++)
        str_printf(&t, "%s%s", i ? ", " : " ", s->u.tile.region[i].buf->name);
    if (s->span.src)
        str_printf(&t, " (line %d)", s->span.line);
    return t.s;
}

static bool plan(const Stmt *s, ThreadGroup who, void *arg)
{
    Kernel *k = arg;

    if (s->kind != ST_TILE)
        return true;
    plan_mechanism(k, who, s, MECH_HOW);
    tile_plan(k, s)->what = tile_text(k, s);
    return true;
}

/* Layouts that are given place elements in banks, which a target without warps does not have. */
static bool unpin(const Stmt *s, void *arg)
{
    for (int i = 0; s->kind == ST_TILE && i < s->u.tile.nregion; i++) {
        BufferPlan *p = buffer_plan(arg, s->u.tile.region[i].buf);
        p->layout = NULL;
        p->pinned = false;
    }
    return true;
}

void pass_plan_how(Kernel *k)
{
    if (!kernel_on_warps(k))
        stmt_visit(k->body, unpin, k);
    group_visit(k, plan, k);
    if (config_on(k->func, CONFIG_as_written) || !needs_two_groups(k))
        return;
    if (!(k->assume && expr_is_const(k->assume))) /* said of the other one (plan_variants) */
        diag_ignored(k->diag, k->span, arena_printf(k->arena, "threads=%d", k->threads[0]),
                     "there are %d, since the results of its MMAs do not fit into the "
                     "registers of so few (tl.as_written keeps them) [ignored]",
                     2 * k->threads[0]);
    k->threads[0] *= 2;
    group_visit(k, plan, k);
}
