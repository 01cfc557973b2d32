/* check_races.c -- write conflicts in T.Parallel; tiles read before they are written.
 *
 * Warnings only, and only when certain: two iterations of a nest store different values to one
 * element, or one reads what another writes ([parallel-race]); or an on-chip tile is read and no
 * statement before the read, nor any in a loop around it, writes it ([read-before-write]).
 *
 * An index is taken as base + f(variables of the nest), or, when it is not of that form, in the
 * first block and the first iteration of the loops around: a conflict there is one that happens.
 * So are conditions within a nest.  One that asks for data may hold; a store under it is looked at
 * only where it asks for the tile that is stored to, as in a relaxation (if x < d[i]: d[i] = x). */
#include <stdlib.h>
#include "pass/pass.h"
#include "pass/lower_effects.h"
#include "ir/config.h"

enum { POINTS_MOST = 1 << 14, PAIRS_MOST = 64 }; /* a part of a larger nest is looked at */

typedef struct {
    Kernel *k;
    Map first;   /* Var -> its value in the first block and iteration; lets -> their values */
    bool surely; /* no branch around: the first iteration happens */
    Var *var[RANK_MOST];
    int64_t extent[RANK_MOST];
    int n;
    const Stmt *body;
    const Expr *only;  /* iterations that come by, NULL: all; over its variables alone */
    const Expr *maybe; /* the condition on data around, NULL: none */
    bool unknown;      /* more than one such condition, or one of which nothing is known */
} IterSpace;

typedef struct {
    int64_t at[RANK_MOST];    /* element */
    int64_t point[RANK_MOST]; /* iteration */
    int n;                    /* of at */
} Hit;

/* ---- what an index is as a function of the nest -------------------------------------------- */

static bool not_countable(const Expr *e, void *nest)
{
    const IterSpace *of = nest;
    bool leaf = e->op == EX_INT || e->op == EX_VAR, own = e->op != EX_VAR;

    for (int i = 0; i < of->n && !own; i++)
        own = e->u.var == of->var[i];
    return !own || e->lanes != 1 || dtype_is_float((DType)e->type) ||
           (!leaf && (e->op < EX_ADD || e->op > EX_CAST || e->op == EX_DIV));
}

static bool is_countable(const IterSpace *nest, const Expr *e)
{
    return !expr_any(e, not_countable, nest);
}

/* Each iteration may have put another value there. */
static bool is_own_load(const Expr *e, void *none)
{
    (void)none;
    return e->op == EX_LOAD && (e->u.buf->scope == MEM_VAR || e->u.buf->scope == MEM_LOCAL);
}

/* What moves with the nest, over its variables alone; NULL when that is not known. */
static const Expr *moving_part(const IterSpace *nest, const Expr *e)
{
    Ir *ir = nest->k->ir;
    int64_t coef[RANK_MOST];
    const Expr *base, *r = expr_int(ir, 0);

    if (e->lanes != 1)
        return NULL;
    e = expr_subst_map(ir, e, &nest->first, NULL);
    if (expr_any(e, is_own_load, NULL))
        return NULL;
    if (affine_of(ir, e, nest->var, nest->n, coef, &base)) {
        for (int i = 0; i < nest->n; i++)
            r = expr_add(ir, r, expr_mul(ir, expr_int(ir, coef[i]), expr_var(ir, nest->var[i])));
        return r;
    }
    e = simplify(ir, NULL, e);
    return nest->surely && is_countable(nest, e) ? e : NULL;
}

static bool moving_parts(const IterSpace *nest, const Expr *const *at, int n, const Expr **out)
{
    for (int d = 0; d < n; d++)
        if (!(out[d] = moving_part(nest, at[d])))
            return false;
    return n <= RANK_MOST;
}

/* ---- elements that iterations touch ---------------------------------------------------------- */

static int by_element(const Hit *x, const Hit *y)
{
    for (int d = 0; d < x->n; d++)
        if (x->at[d] != y->at[d])
            return x->at[d] < y->at[d] ? -1 : 1;
    return 0;
}

static int by_hit(const void *a, const void *b)
{
    const Hit *x = a, *y = b;
    int c = by_element(x, y);

    return c ? c : memcmp(x->point, y->point, sizeof x->point);
}

/* All iterations that come by, in the order of the elements they touch. */
static Hit *hits_of(const IterSpace *nest, const Expr *const *out, int n, int *nhit)
{
    Ir *ir = nest->k->ir;
    const ExprCode *code = expr_compile(ir, nest->var, nest->n, out, n), *only = NULL;
    int64_t at[RANK_MOST] = {0}, npoint = 1, comes = 1;

    if (nest->only)
        only = expr_compile(ir, nest->var, nest->n, &nest->only, 1);

    for (int i = 0; i < nest->n; i++)
        npoint *= nest->extent[i];
    Hit *list = NEWN(nest->k->scratch, Hit, npoint);
    *nhit = 0;
    do {
        if (only)
            expr_run(only, at, &comes);
        if (!comes)
            continue;
        Hit *h = &list[(*nhit)++];
        h->n = n;
        memcpy(h->point, at, sizeof at);
        expr_run(code, at, h->at);
    } while (point_next(nest->n, nest->extent, at));
    qsort(list, (size_t)*nhit, sizeof *list, by_hit);
    return list;
}

static const char *point_text(const IterSpace *nest, const int64_t *point)
{
    Str s;

    str_init(&s, nest->k->scratch);
    for (int i = 0; i < nest->n; i++)
        str_printf(&s, "%s%s=%lld", i ? ", " : "", nest->var[i]->name, (long long)point[i]);
    return s.s;
}

/* ---- two iterations write one element -------------------------------------------------------- */

static const Expr *value_at(const IterSpace *nest, const Expr *e, const int64_t *point)
{
    Ir *ir = nest->k->ir;

    for (int i = 0; i < nest->n; i++)
        e = expr_subst(ir, e, nest->var[i], expr_int(ir, point[i]));
    return simplify(ir, NULL, e);
}

static bool is_load_of(const Expr *e, void *buf)
{
    return e->op == EX_LOAD && e->u.buf == buf;
}

/* x = x + 1 counts each time; x = max(x, 1) does not. */
static bool counts_itself(const Stmt *s)
{
    const Expr *v = s->u.store.value;

    return v->op != EX_MIN && v->op != EX_MAX && v->op != EX_AND && v->op != EX_OR &&
           expr_any(v, is_load_of, s->u.store.buf);
}

static bool check_writes(const IterSpace *nest, const Stmt *s, const Expr *const *out)
{
    const Buffer *b = s->u.store.buf;
    Kernel *k = nest->k;
    int nhit, pairs = 0;

    if (map_is_injective(k->ir, nest->var, nest->extent, nest->n, out, s->u.store.n))
        return true;
    const Expr *value = expr_subst_map(k->ir, s->u.store.value, &nest->first, NULL);
    Hit *h = hits_of(nest, out, s->u.store.n, &nhit);
    for (int i = 1; i < nhit && pairs < PAIRS_MOST; i++) {
        if (by_element(&h[i - 1], &h[i]) != 0)
            continue;
        pairs++;
        if (value_at(nest, value, h[i - 1].point) == value_at(nest, value, h[i].point) &&
            !counts_itself(s))
            continue;
        diag_warn(k->diag, s->span,
                  "two iterations of T.Parallel, (%s) and (%s), store to the same element of '%s' "
                  "[parallel-race]",
                  point_text(nest, h[i - 1].point), point_text(nest, h[i].point), b->name);
        diag_note(k->diag, s->span,
                  "they run at the same time, so which value stays is not defined; "
                  "a sum needs T.reduce_sum, T.atomic_add or a T.serial loop");
        return false;
    }
    return true;
}

/* ---- one iteration reads what another writes ------------------------------------------------- */

typedef struct {
    const IterSpace *nest; /* who comes by the store */
    const IterSpace *reads; /* who comes by the load */
    const Stmt *s;
    const Expr *const *out; /* where s writes */
    bool done;
} ReadCheck;

static bool find_conflict(const ReadCheck *c, const Expr *const *in, Hit *reader, Hit *writer)
{
    int n = c->s->u.store.n, nread, nwrite, j = 0;
    const IterSpace *nest = c->nest;
    if (memcmp(in, c->out, sizeof *in * (size_t)n) == 0 &&
        map_is_injective(nest->k->ir, nest->var, nest->extent, nest->n, in, n))
        return false; /* each iteration reads what it writes itself */
    Hit *r = hits_of(c->reads, in, n, &nread), *w = hits_of(c->nest, c->out, n, &nwrite);

    for (int i = 0; i < nread; i++) {
        while (j < nwrite && by_element(&w[j], &r[i]) < 0)
            j++;
        if (j < nwrite && by_element(&w[j], &r[i]) == 0 &&
            memcmp(w[j].point, r[i].point, sizeof r[i].point)) {
            *reader = r[i];
            *writer = w[j];
            return true;
        }
    }
    return false;
}

/* The bases of the two must be one, or their moving parts say nothing about each other. */
static bool same_base(const IterSpace *nest, const Expr *a, const Expr *b)
{
    Ir *ir = nest->k->ir;
    const Expr *zero = expr_int(ir, 0);

    a = expr_subst_map(ir, a, &nest->first, NULL);
    b = expr_subst_map(ir, b, &nest->first, NULL);
    for (int i = 0; i < nest->n; i++) {
        a = expr_subst(ir, a, nest->var[i], zero);
        b = expr_subst(ir, b, nest->var[i], zero);
    }
    return simplify(ir, NULL, a) == simplify(ir, NULL, b);
}

static const Expr *absolute(const IterSpace *nest, const Expr *e)
{
    Ir *ir = nest->k->ir;

    if (e->lanes != 1)
        return NULL;
    e = simplify(ir, NULL, expr_subst_map(ir, e, &nest->first, NULL));
    return is_countable(nest, e) ? e : NULL;
}

/* Indices of both, comparable with each other; false when they are not known. */
static bool comparable(const IterSpace *nest, const Stmt *s, const Expr *load, const Expr **in,
                       const Expr **out)
{
    for (int d = 0; d < s->u.store.n; d++) {
        const Expr *w = s->u.store.at[d], *r = load->kid[d];
        in[d] = absolute(nest, r);
        out[d] = absolute(nest, w);
        if (nest->surely && in[d] && out[d])
            continue;
        if (!same_base(nest, w, r) || !(in[d] = moving_part(nest, r)) ||
            !(out[d] = moving_part(nest, w)))
            return false;
    }
    return true;
}

static bool see_own_load(const Expr *e, void *arg)
{
    ReadCheck *c = arg;
    const Stmt *s = c->s;
    const Expr *in[RANK_MOST], *out[RANK_MOST];
    Hit reader, writer;

    if (!c->done && (e->op == EX_IF || e->op == EX_AND || e->op == EX_OR || e->op == EX_SELECT)) {
        expr_visit(e->kid[0], see_own_load, arg);
        return false; /* the rest may not be evaluated, or not matter */
    }
    if (c->done)
        return false;
    if (e->op != EX_LOAD || e->u.buf != s->u.store.buf || expr_nindex(e) != s->u.store.n ||
        !comparable(c->nest, s, e, in, out))
        return true;
    c->out = out;
    if (!find_conflict(c, in, &reader, &writer))
        return true;
    c->done = true;
    diag_warn(c->nest->k->diag, s->span,
              "iteration (%s) of T.Parallel reads the element of '%s' that iteration (%s) writes "
              "[parallel-race]", point_text(c->nest, reader.point), s->u.store.buf->name,
              point_text(c->nest, writer.point));
    diag_note(c->nest->k->diag, s->span, "they run at the same time, so it may be the old value or "
              "the new; write to another tile, or use a T.serial loop");
    return false;
}

static void read_by(ReadCheck *c, const Stmt *s);
static bool take_branch(IterSpace *nest, const Expr *cond, bool holds);

static void read_by_arm(ReadCheck *c, const Stmt *s, bool holds)
{
    const IterSpace *was = c->reads;
    IterSpace arm = *was;
    const Stmt *inner = holds ? s->u.branch.then : s->u.branch.orelse;

    if (!inner || !take_branch(&arm, s->u.branch.cond, holds) || arm.maybe || arm.unknown)
        return;
    c->reads = &arm;
    read_by(c, inner);
    c->reads = was;
}

/* Loads of what c->s writes, in all statements that are surely run. */
static void read_by(ReadCheck *c, const Stmt *s)
{
    if (s->kind == ST_STORE) {
        expr_visit(s->u.store.value, see_own_load, c);
    } else if (s->kind == ST_LET) {
        expr_visit(s->u.let.value, see_own_load, c);
    } else if (s->kind == ST_BLOCK) {
        for (int i = 0; i < s->u.block.n; i++)
            read_by(c, s->u.block.list[i]);
    } else if (s->kind == ST_IF) {
        expr_visit(s->u.branch.cond, see_own_load, c);
        read_by_arm(c, s, true);
        read_by_arm(c, s, false);
    }
}

/* In the statement itself a value by name is what it stands for; others are looked at as they are,
 * where all are known to be run. */
static void check_reads(const IterSpace *nest, const Stmt *s)
{
    IterSpace all = *nest;
    ReadCheck c = {nest, nest, s, NULL, false};

    if (!nest->maybe)
        expr_visit(expr_subst_map(nest->k->ir, s->u.store.value, &nest->first, NULL), see_own_load,
                   &c);
    all.only = all.maybe = NULL;
    c.reads = &all;
    if (!c.done && nest->body && nest->surely)
        read_by(&c, nest->body);
}

/* ---- finding nests --------------------------------------------------------------------------- */

static void check_store(const IterSpace *nest, const Stmt *s)
{
    const Buffer *b = s->u.store.buf;
    const Expr *out[RANK_MOST];
    ArenaMark m = arena_mark(nest->k->scratch);

    if (b->scope == MEM_LOCAL || b->scope == MEM_VAR || s->u.store.guard || nest->unknown)
        return;
    if (nest->maybe && !expr_any(nest->maybe, is_load_of, s->u.store.buf))
        return;
    if (nest->maybe || !moving_parts(nest, s->u.store.at, s->u.store.n, out) ||
        check_writes(nest, s, out))
        check_reads(nest, s);
    arena_reset(nest->k->scratch, m);
}

static void bind_let(IterSpace *nest, const Stmt *s)
{
    map_set(&nest->first, s->u.let.var,
            expr_subst_map(nest->k->ir, s->u.let.value, &nest->first, NULL));
}

/* The iterations for which a condition holds, or not; false: none is known to come by. */
static bool take_branch(IterSpace *nest, const Expr *cond, bool holds)
{
    Ir *ir = nest->k->ir;

    if (!nest->surely)
        return false;
    if (holds && cond->op == EX_AND)
        return take_branch(nest, cond->kid[0], true) && take_branch(nest, cond->kid[1], true);
    cond = simplify(ir, NULL, expr_subst_map(ir, cond, &nest->first, NULL));
    if (is_countable(nest, cond)) {
        cond = holds ? cond : expr_unary(ir, EX_NOT, cond);
        nest->only = nest->only ? expr_and(ir, nest->only, cond) : cond;
        return true;
    }
    nest->unknown |= nest->maybe || !expr_has_load(cond);
    nest->maybe = cond;
    return true;
}

/* What is bound within is bound there alone. */
static IterSpace own_names(const IterSpace *outer)
{
    IterSpace nest = *outer;

    map_init(&nest.first, nest.k->arena);
    for (int i = 0; i < outer->first.n; i++)
        if (outer->first.at[i].key)
            map_set(&nest.first, outer->first.at[i].key, outer->first.at[i].val);
    return nest;
}

static void check_body(IterSpace *nest, const Stmt *s);

static void check_arm(const IterSpace *nest, const Stmt *s, bool holds)
{
    IterSpace arm = own_names(nest);
    const Stmt *inner = holds ? s->u.branch.then : s->u.branch.orelse;

    if (inner && take_branch(&arm, s->u.branch.cond, holds))
        check_body(&arm, inner);
}

static void check_body(IterSpace *nest, const Stmt *s)
{
    if (s->kind == ST_IF) {
        check_arm(nest, s, true);
        check_arm(nest, s, false);
    }
    if (s->kind == ST_STORE)
        check_store(nest, s);
    else if (s->kind == ST_LET)
        bind_let(nest, s);
    else if (s->kind == ST_BLOCK)
        for (int i = 0; i < s->u.block.n; i++)
            check_body(nest, s->u.block.list[i]);
}

/* A part of a large nest: what collides there collides. */
static void clip(IterSpace *nest)
{
    for (;;) {
        int64_t points = 1;
        int widest = 0;
        for (int i = 0; i < nest->n; i++) {
            nest->extent[i] = MIN(nest->extent[i], POINTS_MOST);
            points *= nest->extent[i];
            if (nest->extent[i] > nest->extent[widest])
                widest = i;
            if (points > (int64_t)POINTS_MOST * POINTS_MOST)
                break;
        }
        if (points <= POINTS_MOST)
            return;
        nest->extent[widest] = (nest->extent[widest] + 1) / 2;
    }
}

static const Expr *first_value(const IterSpace *nest, const Expr *e)
{
    return simplify(nest->k->ir, NULL, expr_subst_map(nest->k->ir, e, &nest->first, NULL));
}

static bool waits(const Stmt *s, void *none)
{
    (void)none;
    return s->kind == ST_CALL;
}

static void check_nest(const IterSpace *around, const Stmt *s)
{
    IterSpace nest = own_names(around);

    while (stmt_is_nest(s) && nest.n < RANK_MOST) {
        if (!expr_is_int(s->u.loop.extent, &nest.extent[nest.n]) || nest.extent[nest.n] < 1 ||
            !expr_is_zero(first_value(&nest, s->u.loop.min)))
            return;
        nest.var[nest.n++] = s->u.loop.var;
        s = s->u.loop.body;
    }
    clip(&nest);
    nest.body = stmt_any(s, waits, NULL) ? NULL : s;
    check_body(&nest, s);
}

static void find_nests(IterSpace *at, const Stmt *s)
{
    bool surely = at->surely;

    if (s->kind == ST_LET)
        bind_let(at, s);
    if (stmt_is_nest(s)) {
        check_nest(at, s);
        return;
    }
    if (s->kind == ST_FOR)
        map_set(&at->first, s->u.loop.var, first_value(at, s->u.loop.min));
    at->surely &= s->kind != ST_WHILE && s->kind != ST_IF;
    for (int i = 0; i < stmt_nkid(s); i++)
        find_nests(at, stmt_kid(s, i));
    at->surely = surely;
}

/* ---- read before write --------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Map written, warned;
    bool collect; /* first iteration: only note writes */
    const Stmt *at;
} Init;

static void wrote(Init *in, const Buffer *b)
{
    map_set(&in->written, buffer_root(b), b);
}

static void reads(Init *in, const Buffer *b)
{
    const Buffer *r = buffer_root(b);

    if (in->collect || r->scope == MEM_GLOBAL || r->scope == MEM_BARRIER || r->scope == MEM_VAR ||
        r->scope == MEM_CLUSTER_BARRIER || r->scope == MEM_DESCRIPTOR || r->scope == MEM_REDUCER ||
        map_has(&in->written, r) || map_has(&in->warned, r))
        return;
    map_set(&in->warned, r, r);
    if (config_on(in->k->func, CONFIG_disable_buffer_init_check))
        return;
    diag_warn(in->k->diag, in->at->span, "'%s' is read before anything is written to it "
              "[read-before-write]", b->name);
    diag_note(in->k->diag, r->span, "'%s' is made here, and its contents are undefined until they "
              "are written: T.clear, T.fill or T.copy", r->name);
}

static bool init_visit(const Stmt *s, void *arg);

/* What is written later in the text may be there already: in the next iteration of a loop, or by
 * other threads.  Note those writes first. */
static void init_early(Init *in, const Stmt *s)
{
    if (in->collect || !s)
        return;
    in->collect = true;
    stmt_visit(s, init_visit, in);
    in->collect = false;
}

static bool is_by_thread(const Kernel *k, const Stmt *s)
{
    for (int i = 0; i < 3; i++)
        if (k->thread[i] && expr_uses_var(s->u.branch.cond, k->thread[i]))
            return true;
    return false;
}

static bool init_roles(const Stmt *s, void *arg)
{
    Init *in = arg;

    if (s->kind == ST_ROLE || (s->kind == ST_IF && is_by_thread(in->k, s)))
        init_early(in, s);
    return true;
}

static void init_touch(void *arg, const Stmt *s, const Touch *t)
{
    if (t->how & ACC_READ && !(t->how & ACC_ADDRESS) && (t->expr || s->kind == ST_TILE))
        reads(arg, t->buf);
    if (touch_writes(t) && (t->expr || s->kind != ST_INSTR || !(t->how & ACC_READ)))
        wrote(arg, t->buf);
}

static bool init_visit(const Stmt *s, void *arg)
{
    Init *in = arg;

    if (s->kind == ST_FOR || s->kind == ST_WHILE)
        init_early(in, s->kind == ST_FOR ? s->u.loop.body : s->u.branch.then);
    in->at = s;
    stmt_touches(s, init_touch, in);
    return true;
}

void pass_check_races(Kernel *k)
{
    IterSpace at = {.k = k, .surely = true};
    Init in = {.k = k};

    map_init(&at.first, k->scratch);
    for (int i = 0; i < k->ngrid; i++)
        map_set(&at.first, k->block[i], expr_int(k->ir, 0));
    if (!config_on(k->func, CONFIG_disable_data_race_check))
        find_nests(&at, k->body);
    map_init(&in.written, k->scratch);
    map_init(&in.warned, k->scratch);
    stmt_visit(k->body, init_roles, &in);
    stmt_visit(k->body, init_visit, &in);
    effects_tell(k);
}
