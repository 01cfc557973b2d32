/* plan_how.c -- choose the mechanism of every tile operator.  Chosen here and nowhere else.
 *
 * needs   FORM_NORMAL, FORM_SIMPLE    regions are comparable
 * gives   FORM_HOW
 *
 * The target looks at one statement at a time and sets how and why; what it does not claim is done
 * by the operator's own loops. */
#include "pass/pass.h"
#include "ir/config.h"

static const char *describe(Kernel *k, const Stmt *s)
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

static bool plan(const Stmt *s, void *arg)
{
    Kernel *k = arg;

    if (s->kind != ST_TILE)
        return true;
    TilePlan *p = tile_plan(k, s);
    p->how = HOW_NONE;
    p->why = NULL;
    if (k->target->plan)
        k->target->plan(k, s);
    p = tile_plan(k, s);
    p->what = describe(k, s);
    if (p->how == HOW_NONE) {
        p->how = HOW_PLAIN;
        p->why = p->why ? p->why : "the operator's own loops";
    }
    return true;
}

void pass_plan_how(Kernel *k)
{
    team_visit(k, plan, k);
    if (config_on(k->func, CONFIG_as_written) || !needs_two_groups(k))
        return;
    if (!(k->assume && expr_is_const(k->assume))) /* said of the other one (plan_variants) */
        diag_ignored(k->diag, k->span, arena_printf(k->arena, "threads=%d", k->threads[0]),
                     "there are %d, since the results of its products do not fit into the "
                     "registers of so few (tl.as_written keeps them) [ignored]",
                     2 * k->threads[0]);
    k->threads[0] *= 2;
    team_visit(k, plan, k);
}
