/* check_races.c -- write conflicts in T.Parallel; tiles read before they are written.
 *
 * Warnings only, and only when certain: two iterations of a nest store to one element
 * ([parallel-race]), or an on-chip tile is read and no statement before the read, nor any in a loop
 * around it, writes it ([read-before-write]). */
#include "pass/pass.h"

enum { POINTS_MOST = 1 << 16 }; /* larger nests are not enumerated */

typedef struct {
    Kernel *k;
    Var *var[RANK_MOST];
    int64_t extent[RANK_MOST];
    int n;
} Loops;

/* The part of an index that moves with the nest; NULL when it is not of the form base + f(vars). */
static const Expr *moving_part(Loops *nest, const Expr *e)
{
    Ir *ir = nest->k->ir;
    int64_t coef[RANK_MOST];
    const Expr *base;

    if (!affine_of(ir, e, nest->var, nest->n, coef, &base))
        return NULL;
    const Expr *r = expr_int(ir, 0);
    for (int i = 0; i < nest->n; i++)
        r = expr_add(ir, r, expr_mul(ir, expr_int(ir, coef[i]), expr_var(ir, nest->var[i])));
    return r;
}

static bool varies(const Loops *nest, const Expr *e)
{
    for (int i = 0; i < nest->n; i++)
        if (expr_uses_var(e, nest->var[i]))
            return true;
    return false;
}

static void check_store(Loops *nest, const Stmt *s)
{
    const Buffer *b = s->u.store.buf;
    const Expr *out[RANK_MOST];

    if (b->scope == MEM_LOCAL || b->scope == MEM_VAR || !varies(nest, s->u.store.value))
        return;
    for (int d = 0; d < s->u.store.n; d++) {
        out[d] = moving_part(nest, s->u.store.at[d]);
        if (!out[d])
            return;
    }
    if (map_is_injective(nest->k->ir, nest->var, nest->extent, nest->n, out, s->u.store.n))
        return;
    diag_warn(nest->k->diag, s->span,
              "iterations of T.Parallel store different values to the same element of '%s' "
              "[parallel-race]", b->name);
}

static void check_body(Loops *nest, const Stmt *s)
{
    if (s->kind == ST_STORE && !s->u.store.guard)
        check_store(nest, s);
    else if (s->kind == ST_BLOCK)
        for (int i = 0; i < s->u.block.n; i++)
            check_body(nest, s->u.block.list[i]);
}

static bool see_nest(const Stmt *s, void *arg)
{
    Loops nest = {.k = arg};
    int64_t points = 1;

    if (s->kind != ST_FOR || s->u.loop.how != LOOP_PARALLEL)
        return true;
    while (s->kind == ST_FOR && s->u.loop.how == LOOP_PARALLEL && nest.n < RANK_MOST) {
        nest.var[nest.n] = s->u.loop.var;
        if (!expr_is_int(s->u.loop.extent, &nest.extent[nest.n]) || nest.extent[nest.n] < 1)
            return false;
        points *= nest.extent[nest.n++];
        if (points > POINTS_MOST)
            return false;
        s = s->u.loop.body;
        if (s->kind == ST_BLOCK && s->u.block.n == 1)
            s = s->u.block.list[0];
    }
    check_body(&nest, s);
    return false;
}

/* ---- read before write --------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Map written, warned;
    bool collect; /* first round: only note writes */
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
    diag_warn(in->k->diag, in->at->span, "'%s' is read before anything is written to it "
              "[read-before-write]", b->name);
    diag_note(in->k->diag, r->span, "'%s' is declared here", r->name);
}

static bool init_load(const Expr *e, void *arg)
{
    if (e->op == EX_LOAD)
        reads(arg, e->u.buf);
    if (e->op == EX_ADDR)
        wrote(arg, e->u.buf);
    return true;
}

static void init_access(void *arg, const Region *r, Access a)
{
    Init *in = arg;
    if (a & ACC_READ)
        reads(in, r->buf);
    if (a & (ACC_WRITE | ACC_REDUCE))
        wrote(in, r->buf);
}

static bool init_visit(const Stmt *s, void *arg);

/* What a loop writes late may be read early in its next turn: note the writes first. */
static void init_loop(Init *in, const Stmt *s)
{
    if (in->collect)
        return;
    in->collect = true;
    stmt_visit(s, init_visit, in);
    in->collect = false;
}

static bool init_visit(const Stmt *s, void *arg)
{
    Init *in = arg;

    in->at = s;
    if (s->kind == ST_FOR || s->kind == ST_WHILE || s->kind == ST_ROLE)
        init_loop(in, s->kind == ST_FOR ? s->u.loop.body
                      : s->kind == ST_WHILE ? s->u.branch.then : s->u.role.body);
    in->at = s;
    stmt_visit_expr(s, init_load, in);
    if (s->kind == ST_STORE)
        wrote(in, s->u.store.buf);
    if (s->kind == ST_ATOMIC)
        wrote(in, s->u.atomic.buf);
    if (s->kind == ST_TILE && s->u.tile.op->access)
        s->u.tile.op->access(s, init_access, in);
    if (s->kind == ST_CALL)
        for (int i = 0; i < s->u.call.nregion; i++)
            wrote(in, s->u.call.region[i].buf);
    return true;
}

void pass_check_races(Kernel *k)
{
    Init in = {.k = k};

    stmt_visit(k->body, see_nest, k);
    map_init(&in.written, k->scratch);
    map_init(&in.warned, k->scratch);
    stmt_visit(k->body, init_visit, &in);
}
