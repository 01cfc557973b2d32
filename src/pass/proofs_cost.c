/* proofs_cost.c -- for `tl prove`: what a guard costs.
 *
 * The lowered body is counted twice, as it is and as the same kernel is without guards
 * (tl.disable_safe_memory_legalize): how often a thread evaluates a condition around the accesses
 * of a line in one block, and how many bytes an access moves.  Of a branch the dearer side counts;
 * the cheaper one is kept beside it, for blocks that are inside of their tensors have a body of
 * their own (opt_clip).  A loop of unknown length counts once, and is named. */
#include <math.h>
#include <stdlib.h>
#include "pass/access.h"
#include "isa/isa.h"

typedef struct {
    double checks, least; /* evaluations of conditions, on the dearer and the cheaper path */
    double accesses, bytes;
    bool any;
} Cost;

typedef struct {
    const Kernel *k;
    const AccessNote *n;
    Facts *facts;
    Map lets;         /* Var -> Let */
    int32_t open;     /* line of a loop around an access whose length is not known; 0: none */
    double times;     /* the loops around run so often */
    double hoisted;   /* evaluations of conditions that were given a name before the access */
    bool clipped;     /* the end of a loop around depends on where the block is */
    Cost at;          /* of the statement being read */
} Count;

typedef struct {
    double times;
    bool counted;
} Let;

static bool is_test(const Expr *e)
{
    return e->op == EX_LT || e->op == EX_LE || e->op == EX_GT || e->op == EX_GE ||
           e->op == EX_EQ || e->op == EX_NE;
}

static bool see_test(const Expr *e, void *arg)
{
    *(bool *)arg |= is_test(e);
    return !*(bool *)arg;
}

static bool has_test(const Expr *e)
{
    bool found = false;

    expr_visit(e, see_test, &found);
    return found;
}

static bool see_named(const Expr *e, void *arg)
{
    Count *c = arg;
    Let *let = e->op == EX_VAR ? map_get(&c->lets, e->u.var) : NULL;

    if (let && !let->counted) {
        let->counted = true;
        c->hoisted += let->times;
    }
    return true;
}

/* One evaluation where the condition is tested, as often as it was named where it has a name. */
static double evaluations(Count *c, const Expr *cond)
{
    if (!cond || expr_is_const(cond))
        return 0;
    expr_visit(cond, see_named, c);
    return has_test(cond) ? 1 : 0;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static void add_access(Count *c, const Expr *guard, int lanes)
{
    double n = evaluations(c, guard);

    c->at.any = true;
    c->at.accesses++;
    c->at.bytes += (double)lanes * dtype_bits(c->n->buf->type) / 8;
    c->at.checks += n;
    c->at.least += n;
}

/* Buffers of the kernel without guards are its own: they go by their names. */
static bool is_meant(const Count *c, const Buffer *b)
{
    return buffer_root(b)->scope == c->n->buf->scope &&
           !strcmp(buffer_root(b)->name, c->n->buf->name);
}

static bool see_load(const Expr *e, void *arg)
{
    Count *c = arg;

    if (e->op == EX_LOAD && is_meant(c, e->u.buf))
        add_access(c, e->guarded ? e->kid[e->nkid - 2] : NULL, e->lanes);
    return true;
}

/* An access by wide words: load_global_128. */
static void see_wide(Count *c, const Stmt *s)
{
    bool load = s->u.call.which == INTRIN_WIDE_LOAD;
    const Expr *at = s->u.call.arg[load];
    const char *bits = strrchr(s->u.call.text, '_');
    int size = dtype_bits(c->n->buf->type);

    if (is_meant(c, at->u.buf) && bits && (c->n->how == 'r') == load)
        add_access(c, s->u.call.arg[2], MAX(atoi(bits + 1) / size, 1));
}

static void see_leaf(Count *c, const Stmt *s)
{
    if (s->span.line != c->n->at.line)
        return;
    if (s->kind == ST_CALL &&
        (s->u.call.which == INTRIN_WIDE_LOAD || s->u.call.which == INTRIN_WIDE_STORE)) {
        see_wide(c, s);
        return;
    }
    if (c->n->how == 'r')
        stmt_visit_expr(s, see_load, c);
    if (c->n->how == 'w' && s->kind == ST_STORE && is_meant(c, s->u.store.buf))
        add_access(c, s->u.store.guard, s->u.store.value->lanes);
    if (c->n->how == 'a' && s->kind == ST_ATOMIC && is_meant(c, s->u.atomic.buf))
        add_access(c, NULL, s->u.atomic.value ? s->u.atomic.value->lanes : 1);
}

/* ---- statements ------------------------------------------------------------------------------ */

static Cost count(Count *c, const Stmt *s);

static Cost count_branch(Count *c, const Stmt *s)
{
    Cost own = c->at, then = count(c, s->u.branch.then), orelse = {0};

    if (s->u.branch.orelse)
        orelse = count(c, s->u.branch.orelse);
    Cost dear = then.checks >= orelse.checks && then.any ? then : orelse;
    if (then.any && orelse.any)
        dear.least = MIN(then.least, orelse.least);
    if (dear.any) {
        double n = evaluations(c, s->u.branch.cond);
        dear.checks += n;
        dear.least += n;
    }
    c->at = own;
    return dear;
}

static Cost count_loop(Count *c, const Stmt *s)
{
    double was = c->times, n = 1;
    int64_t fixed;
    Bounds b = bounds_of(c->facts, s->u.loop.extent);
    bool known = expr_is_int(s->u.loop.extent, &fixed), bounded = bounds_known(b) && b.hi > 0;
    int m = facts_mark(c->facts);

    n = known ? (double)fixed : bounded ? (double)b.hi : 1;
    c->times *= n;
    facts_range(c->facts, s->u.loop.var, s->u.loop.min, s->u.loop.extent);
    Cost body = count(c, s->u.loop.body);
    facts_pop(c->facts, m);
    c->times = was;
    if (body.any && !known && bounded)
        c->clipped = true;
    if (body.any && !known && !bounded && !c->open)
        c->open = s->span.line;
    body.checks *= n;
    body.least *= n;
    body.accesses *= n;
    body.bytes *= n;
    return body;
}

static void name_let(Count *c, const Stmt *s)
{
    if (!has_test(s->u.let.value) || expr_has_load(s->u.let.value))
        return;
    Let *let = NEW(c->k->ir->arena, Let);
    *let = (Let){c->times, false};
    map_set(&c->lets, s->u.let.var, let);
}

static Cost count(Count *c, const Stmt *s)
{
    Cost all = {0}, was = c->at;

    c->at = (Cost){0};
    switch (s->kind) {
    case ST_FOR: all = count_loop(c, s); break;
    case ST_IF: all = count_branch(c, s); break;
    case ST_WHILE:
        all = count(c, s->u.branch.then);
        if (all.any && !c->open)
            c->open = s->span.line;
        break;
    case ST_LET:
        name_let(c, s);
        /* fall through */
    default:
        see_leaf(c, s);
        all = c->at;
        for (int i = 0; i < stmt_nkid(s); i++) {
            Cost kid = count(c, stmt_kid(s, i));
            all.checks += kid.checks;
            all.least += kid.least;
            all.accesses += kid.accesses;
            all.bytes += kid.bytes;
            all.any |= kid.any;
        }
    }
    c->at = was;
    return all;
}

static Cost cost_of(Count *c, const Kernel *k, const AccessNote *n)
{
    *c = (Count){.k = k, .n = n, .facts = facts_new(k->ir), .times = 1};
    map_init(&c->lets, k->ir->arena);
    facts_kernel(c->facts, (Kernel *)k);
    return count(c, k->body);
}

/* ---- words ----------------------------------------------------------------------------------- */

static double width_of(const Cost *c)
{
    return c->accesses > 0 ? c->bytes / c->accesses : 0;
}

/* Only where the machine has vectors that we make: elsewhere the C compiler does. */
static const char *width_text(const Kernel *k, const Cost *with, const Cost *without)
{
    double a = width_of(with), b = width_of(without);

    if (!kernel_has(k, HAS_VECTORS) || !without->any)
        return "";
    if (a < b * 0.999)
        return arena_printf(k->ir->arena, "; %.3g bytes at a time where it would be %.3g without",
                            a, b);
    return arena_printf(k->ir->arena, "; %.3g bytes at a time, as without it", a);
}

static const char *times_text(const Kernel *k, double n)
{
    return n == 1 ? "once" : arena_printf(k->ir->arena, "%.10g times", round(n));
}

const char *guard_cost(Kernel *k, const Kernel *without, const AccessNote *n)
{
    Arena *a = k->ir->arena;
    Count c, d = {0};
    Cost with = cost_of(&c, k, n), plain = {0};
    const char *who = kernel_on_warps(k) ? "each thread" : "the block", *often;

    if (!with.any)
        return "it is not in the lowered kernel";
    if (without)
        plain = cost_of(&d, without, n);
    double most = MAX(with.checks - plain.checks, 0), least = MAX(with.least - plain.least, 0);
    double named = MAX(c.hoisted - d.hoisted, 0);
    const char *per = c.open ? arena_printf(a, " in each iteration of line %d", (int)c.open)
                             : " in a block";
    if (most == 0 && named == 0)
        often = c.clipped ? "nothing where it stands: the loop around it ends where it would fail"
                          : "nothing of its own: a condition around it is evaluated anyway";
    else if (most == 0)
        often = arena_printf(a, "%s evaluates it %s before the loop (hoisted)", who,
                             times_text(k, named));
    else
        often = arena_printf(a, "%s evaluates it %s%s%s%s", who, times_text(k, most), per,
                             least >= most ? ""
                             : least == 0  ? ", never where the block is inside of its tensors"
                                           : arena_printf(a, ", %.10g where the block is inside "
                                                          "of its tensors", round(least)),
                             named > 0 ? ", parts of it before the loop (hoisted)" : "");
    return arena_printf(a, "%s%s", often, width_text(k, &with, &plain));
}
