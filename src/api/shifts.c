/* shifts.c -- which tensors may not lie a few elements apart in one memory.
 *
 * A kernel that reads X[e] and writes Y[e], for many e at once (the elements of a T.Parallel or of
 * a copy, the blocks of a launch), is right when X and Y share nothing and when they are one.
 * As two views of one memory that start apart, what one iteration writes another reads, in no
 * order: no target says what comes out.  Found in the tile form, where equal indices are one
 * pointer; under conditions that only the call knows nothing is said. */
#include "api/api.h"

enum { SITES_MOST = 4096 };
enum { PER_BLOCK = 1, PER_LOOP = 2 };

typedef struct Site Site;
struct Site {
    int param;
    bool writes;
    int varies;         /* PER_ bits of the indices */
    const Stmt *inside; /* the parallel loop or the operator that runs it */
    const Expr *const *at;
    int n;
    const Site *next;   /* of the same first index */
};

typedef struct {
    Func *f;
    const Stmt *inside;
    int unsure, nsite; /* conditions around that the call decides */
    Map vary;          /* Var -> PER_ bits, as (char *)0 + bits */
    Map sites;         /* first index -> Site */
} Shifts;

static bool see_varying(const Expr *x, void *arg)
{
    Shifts *w = ((void **)arg)[0];
    int *bits = ((void **)arg)[1];

    if (x->op == EX_VAR)
        *bits |= (int)(intptr_t)map_get(&w->vary, x->u.var);
    return true;
}

static int varies(Shifts *w, const Expr *x)
{
    int bits = 0;
    void *arg[] = {w, &bits};
    expr_visit(x, see_varying, arg);
    return bits;
}

static void set_varies(Shifts *w, const Var *v, int bits)
{
    map_set(&w->vary, v, (void *)(intptr_t)bits);
}

static int param_of(const Func *f, const Buffer *b)
{
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf == b)
            return i;
    return -1;
}

static bool at_same_places(const Site *a, const Site *b)
{
    if (a->n != b->n)
        return false;
    for (int d = 0; d < a->n; d++)
        if (a->at[d] != b->at[d])
            return false;
    return true;
}

static void set_pair(Func *f, const Site *written, const Site *other)
{
    Param *p = &f->params.at[written->param];

    if (!p->in_no_order)
        p->in_no_order = NEWN(f->ir->arena, bool, f->params.n);
    p->in_no_order[other->param] = true;
}

static void add_site(Shifts *w, const Site *s)
{
    const Site *first = map_get(&w->sites, s->at[0]);

    for (const Site *t = first; t; t = t->next) {
        bool blocks = s->varies & t->varies & PER_BLOCK;
        bool loops = s->varies & t->varies & PER_LOOP && s->inside && s->inside == t->inside;
        if (!at_same_places(s, t) || (!blocks && !loops))
            continue;
        if (s->param == t->param && s->writes == t->writes && s->inside == t->inside)
            return;
        if (s->param != t->param && s->writes)
            set_pair(w->f, s, t);
        if (s->param != t->param && t->writes)
            set_pair(w->f, t, s);
    }
    if (w->nsite++ == SITES_MOST)
        return;
    Site *own = NEW(w->f->ir->arena, Site);
    *own = *s;
    own->next = first;
    map_set(&w->sites, s->at[0], own);
}

static void see_touch(void *arg, const Stmt *s, const Touch *t)
{
    Shifts *w = arg;
    Site site = {.param = param_of(w->f, t->buf), .writes = touch_writes(t), .inside = w->inside};

    if (site.param < 0 || w->unsure || w->nsite >= SITES_MOST || t->how & ACC_ADDRESS)
        return;
    site.at = t->at ? t->at : t->region ? t->region->at : NULL;
    site.n = t->at ? t->n : t->buf->rank;
    if (!site.at || site.n == 0)
        return;
    if (s->kind == ST_TILE) {
        site.inside = s;
        site.varies = PER_LOOP;
    }
    for (int d = 0; d < site.n; d++)
        site.varies |= varies(w, site.at[d]);
    if (site.varies)
        add_site(w, &site);
}

/* Numbers of the call that are no shapes, and what is read. */
static bool is_unsure(const Shifts *w, const Expr *x)
{
    bool unsure = expr_has_load(x);
    for (int i = 0; i < w->f->params.n && !unsure; i++)
        unsure = w->f->params.at[i].var && expr_uses_var(x, w->f->params.at[i].var);
    return unsure;
}

static void walk(Shifts *w, const Stmt *s)
{
    bool branch = s->kind == ST_IF && is_unsure(w, s->u.branch.cond);
    bool loop = s->kind == ST_FOR && is_unsure(w, s->u.loop.extent);
    bool unsure = branch || loop || s->kind == ST_WHILE || s->kind == ST_ROLE;
    const Stmt *outer = w->inside;

    stmt_touches(s, see_touch, w);
    if (s->kind == ST_LET)
        set_varies(w, s->u.let.var, varies(w, s->u.let.value));
    if (stmt_is_nest(s)) {
        set_varies(w, s->u.loop.var, PER_LOOP);
        w->inside = outer ? outer : s;
    }
    w->unsure += unsure;
    for (int i = 0; i < stmt_nkid(s); i++)
        walk(w, stmt_kid(s, i));
    w->unsure -= unsure;
    w->inside = outer;
}

void func_find_shifts(Func *f)
{
    for (int i = 0; i < f->kernels.n; i++) {
        const Kernel *k = f->kernels.at[i];
        Shifts w = {.f = f};
        int64_t n;

        map_init(&w.vary, f->ir->arena);
        map_init(&w.sites, f->ir->arena);
        for (int d = 0; d < k->ngrid; d++)
            if (!(expr_is_int(k->grid[d], &n) && n == 1))
                set_varies(&w, k->block[d], PER_BLOCK);
        if (k->body)
            walk(&w, k->body);
    }
}
