/* walk.c -- mapping, visiting and substitution.
 *
 * Every map gives back the same pointer when nothing changed, so "changed?" is a pointer test and
 * unchanged parts are shared. */
#include "ir/ir.h"

/* ---- expressions ------------------------------------------------------------------------ */

/* What each expression was mapped to, for one expr_map.  Tables are kept in the Ir and used again:
 * an entry of an older round counts as empty.  A table in use when something throws is lost to
 * the arena, no more. */
typedef struct ExprMemo ExprMemo;
struct ExprMemo {
    ExprMemo *next;
    uint32_t round;
    int n, nslot;
    struct {
        const Expr *key, *val;
        uint32_t round;
    } *slot;
};

enum { MEMO_LEAST = 64, KIDS_LOCAL = 16 };

static ExprMemo *memo_take(Ir *ir)
{
    ExprMemo *m = ir->memo;
    if (m) {
        ir->memo = m->next;
    } else {
        m = NEW(ir->arena, ExprMemo);
        m->nslot = MEMO_LEAST;
        m->slot = arena_alloc(ir->arena, sizeof *m->slot * MEMO_LEAST);
    }
    m->round++;
    m->n = 0;
    return m;
}

static void memo_give(Ir *ir, ExprMemo *m)
{
    m->next = ir->memo;
    ir->memo = m;
}

static int memo_find(const ExprMemo *m, const Expr *e)
{
    int i = (int)(e->hash & (uint32_t)(m->nslot - 1));
    while (m->slot[i].round == m->round && m->slot[i].key != e)
        i = (i + 1) & (m->nslot - 1);
    return i;
}

static void memo_set(Ir *ir, ExprMemo *m, const Expr *e, const Expr *val)
{
    if (++m->n * 2 > m->nslot) {
        ExprMemo old = *m;
        m->nslot *= 2;
        m->slot = arena_alloc(ir->arena, sizeof *m->slot * (size_t)m->nslot);
        for (int i = 0; i < old.nslot; i++) {
            if (old.slot[i].round == old.round)
                m->slot[memo_find(m, old.slot[i].key)] = old.slot[i];
        }
    }
    int at = memo_find(m, e);
    m->slot[at].key = e;
    m->slot[at].val = val;
    m->slot[at].round = m->round;
}

static const Expr *map_expr(Ir *ir, ExprMemo *m, const Expr *e, ExprMapFn *fn, void *arg)
{
    if (e->nkid == 0)
        return fn(ir, e, arg);
    int at = memo_find(m, e);
    if (m->slot[at].round == m->round)
        return m->slot[at].val;
    const Expr *few[KIDS_LOCAL];
    const Expr **kid = e->nkid <= KIDS_LOCAL ? few : NEWN(ir->arena, const Expr *, e->nkid);
    bool same = true;
    for (int i = 0; i < e->nkid; i++) {
        kid[i] = map_expr(ir, m, e->kid[i], fn, arg);
        same = same && kid[i] == e->kid[i];
    }
    const Expr *r = fn(ir, same ? e : expr_with_kids(ir, e, kid), arg);
    memo_set(ir, m, e, r);
    return r;
}

const Expr *expr_map(Ir *ir, const Expr *e, ExprMapFn *fn, void *arg)
{
    if (e->nkid == 0)
        return fn(ir, e, arg);
    ExprMemo *m = memo_take(ir);
    const Expr *r = map_expr(ir, m, e, fn, arg);
    memo_give(ir, m);
    return r;
}

void expr_visit(const Expr *e, ExprVisitFn *fn, void *arg)
{
    if (!fn(e, arg))
        return;
    for (int i = 0; i < e->nkid; i++)
        expr_visit(e->kid[i], fn, arg);
}

/* ---- statements ------------------------------------------------------------------------- */

/* What to do with the parts of a statement; a NULL function leaves its parts alone. */
typedef struct {
    Ir *ir;
    ExprMapFn *expr;
    void *expr_arg;
    const Map *bufs;
    StmtMapFn *stmt;
    void *stmt_arg;
} Mapper;

static const Stmt *map_stmt(const Mapper *m, const Stmt *s);

static const Expr *one(const Mapper *m, const Expr *e)
{
    return e && m->expr ? m->expr(m->ir, e, m->expr_arg) : e;
}

static Buffer *buf(const Mapper *m, Buffer *b)
{
    Buffer *by = m->bufs && b ? map_get(m->bufs, b) : NULL;
    return by ? by : b;
}

static const Expr *const *list(const Mapper *m, int n, const Expr *const *old)
{
    const Expr **copy = NULL;
    for (int i = 0; i < n; i++) {
        const Expr *e = one(m, old[i]);
        if (e == old[i])
            continue;
        if (!copy) {
            copy = NEWN(m->ir->arena, const Expr *, n);
            memcpy(copy, old, sizeof *copy * (size_t)n);
        }
        copy[i] = e;
    }
    return copy ? copy : old;
}

static Region region_map(const Mapper *m, const Region *r)
{
    Region to = {buf(m, r->buf), r->at, r->extent};
    const Expr *const *at = list(m, r->buf->rank, (const Expr *const *)r->at);
    const Expr *const *extent = list(m, r->buf->rank, (const Expr *const *)r->extent);
    to.at = (const Expr **)(uintptr_t)at;
    to.extent = (const Expr **)(uintptr_t)extent;
    return to;
}

static const Region *regions(const Mapper *m, int n, const Region *old)
{
    Region *copy = NULL;
    if (!m->expr && !m->bufs)
        return old;
    for (int i = 0; i < n; i++) {
        Region r = region_map(m, &old[i]);
        if (r.buf == old[i].buf && r.at == old[i].at && r.extent == old[i].extent)
            continue;
        if (!copy) {
            copy = NEWN(m->ir->arena, Region, n);
            memcpy(copy, old, sizeof *copy * (size_t)n);
        }
        copy[i] = r;
    }
    return copy ? copy : old;
}

static Hints hints(const Mapper *m, Hints h)
{
    Hint *copy = NULL;
    for (int i = 0; i < h.n; i++) {
        const Expr *v = one(m, h.at[i].value);
        if (v == h.at[i].value)
            continue;
        if (!copy) {
            copy = NEWN(m->ir->arena, Hint, h.n);
            memcpy(copy, h.at, sizeof *copy * (size_t)h.n);
        }
        copy[i].value = v;
    }
    return copy ? (Hints){copy, h.n} : h;
}

static const Stmt *body(const Mapper *m, const Stmt *s)
{
    const Stmt *r = s ? map_stmt(m, s) : NULL;
    return r || !s ? r : stmt_block(m->ir, s->span, 0, NULL);
}

static const Stmt *map_block(const Mapper *m, const Stmt *s)
{
    int n = s->u.block.n;
    const Stmt **copy = NULL;
    for (int i = 0; i < n; i++) {
        const Stmt *old = s->u.block.list[i], *r = map_stmt(m, old);
        if (r == old)
            continue;
        if (!copy) {
            copy = NEWN(m->ir->arena, const Stmt *, n);
            memcpy(copy, s->u.block.list, sizeof *copy * (size_t)n);
        }
        copy[i] = r;
    }
    return copy ? stmt_block(m->ir, s->span, n, copy) : s;
}

static void map_parts(const Mapper *m, Stmt *c)
{
    switch (c->kind) {
    case ST_LET:
        c->u.let.value = one(m, c->u.let.value);
        break;
    case ST_STORE:
        c->u.store.buf = buf(m, c->u.store.buf);
        c->u.store.at = list(m, c->u.store.n, c->u.store.at);
        c->u.store.value = one(m, c->u.store.value);
        c->u.store.guard = one(m, c->u.store.guard);
        break;
    case ST_FOR:
        c->u.loop.min = one(m, c->u.loop.min);
        c->u.loop.extent = one(m, c->u.loop.extent);
        c->u.loop.hints = hints(m, c->u.loop.hints);
        c->u.loop.body = body(m, c->u.loop.body);
        break;
    case ST_WHILE: case ST_IF:
        c->u.branch.cond = one(m, c->u.branch.cond);
        c->u.branch.then = body(m, c->u.branch.then);
        if (c->u.branch.orelse)
            c->u.branch.orelse = map_stmt(m, c->u.branch.orelse);
        break;
    case ST_TILE:
        c->u.tile.region = regions(m, c->u.tile.nregion, c->u.tile.region);
        c->u.tile.arg = list(m, c->u.tile.narg, c->u.tile.arg);
        c->u.tile.hints = hints(m, c->u.tile.hints);
        break;
    case ST_ATOMIC:
        c->u.atomic.buf = buf(m, c->u.atomic.buf);
        c->u.atomic.at = list(m, c->u.atomic.n, c->u.atomic.at);
        c->u.atomic.value = one(m, c->u.atomic.value);
        break;
    case ST_CALL:
        c->u.call.arg = list(m, c->u.call.n, c->u.call.arg);
        c->u.call.region = regions(m, c->u.call.nregion, c->u.call.region);
        break;
    case ST_ASSERT:
        c->u.check.cond = one(m, c->u.check.cond);
        break;
    case ST_INSTR:
        c->u.instr.region = regions(m, c->u.instr.nregion, c->u.instr.region);
        c->u.instr.arg = list(m, c->u.instr.narg, c->u.instr.arg);
        break;
    case ST_ROLE:
        c->u.role.body = body(m, c->u.role.body);
        break;
    case ST_EVAL:
        c->u.eval = one(m, c->u.eval);
        break;
    case ST_BLOCK: case ST_BREAK: case ST_CONTINUE: case ST_LAUNCH: case ST_COUNT:
        break;
    }
}

static bool parts_same(const Stmt *a, const Stmt *b)
{
    switch (a->kind) {
    case ST_LET:
        return a->u.let.value == b->u.let.value;
    case ST_STORE:
        return a->u.store.buf == b->u.store.buf && a->u.store.at == b->u.store.at &&
               a->u.store.value == b->u.store.value && a->u.store.guard == b->u.store.guard;
    case ST_FOR:
        return a->u.loop.min == b->u.loop.min && a->u.loop.extent == b->u.loop.extent &&
               a->u.loop.hints.at == b->u.loop.hints.at && a->u.loop.body == b->u.loop.body;
    case ST_WHILE: case ST_IF:
        return a->u.branch.cond == b->u.branch.cond && a->u.branch.then == b->u.branch.then &&
               a->u.branch.orelse == b->u.branch.orelse;
    case ST_TILE:
        return a->u.tile.region == b->u.tile.region && a->u.tile.arg == b->u.tile.arg &&
               a->u.tile.hints.at == b->u.tile.hints.at;
    case ST_ATOMIC:
        return a->u.atomic.buf == b->u.atomic.buf && a->u.atomic.at == b->u.atomic.at &&
               a->u.atomic.value == b->u.atomic.value;
    case ST_CALL:
        return a->u.call.arg == b->u.call.arg && a->u.call.region == b->u.call.region;
    case ST_ASSERT:
        return a->u.check.cond == b->u.check.cond;
    case ST_INSTR:
        return a->u.instr.region == b->u.instr.region && a->u.instr.arg == b->u.instr.arg;
    case ST_ROLE:
        return a->u.role.body == b->u.role.body;
    case ST_EVAL:
        return a->u.eval == b->u.eval;
    default:
        return true;
    }
}

/* Substitution may have changed the type of what is stored or compared against. */
static void retype(const Mapper *m, Stmt *c)
{
    int64_t always;
    if (!m->expr)
        return;
    if (c->kind == ST_LET)
        c->u.let.value = expr_cast(m->ir, c->u.let.var->type, c->u.let.value);
    if (c->kind == ST_STORE) {
        c->u.store.value = expr_cast(m->ir, c->u.store.buf->type, c->u.store.value);
        if (c->u.store.guard && expr_is_int(c->u.store.guard, &always) && always)
            c->u.store.guard = NULL;
    }
    if (c->kind == ST_FOR) {
        c->u.loop.min = expr_cast(m->ir, c->u.loop.var->type, c->u.loop.min);
        c->u.loop.extent = expr_cast(m->ir, c->u.loop.var->type, c->u.loop.extent);
    }
}

static const Stmt *map_stmt(const Mapper *m, const Stmt *s)
{
    const Stmt *r = s;
    if (s->kind == ST_BLOCK) {
        r = map_block(m, s);
    } else {
        Stmt copy = *s;
        map_parts(m, &copy);
        if (!parts_same(&copy, s)) {
            retype(m, &copy);
            Stmt *kept = NEW(m->ir->arena, Stmt);
            *kept = copy;
            r = kept;
        }
    }
    return m->stmt ? m->stmt(m->ir, r, m->stmt_arg) : r;
}

const Stmt *stmt_map(Ir *ir, const Stmt *s, StmtMapFn *fn, void *arg)
{
    return s ? map_stmt(&(Mapper){.ir = ir, .stmt = fn, .stmt_arg = arg}, s) : NULL;
}

const Stmt *stmt_map_expr(Ir *ir, const Stmt *s, ExprMapFn *fn, void *arg)
{
    return s ? map_stmt(&(Mapper){.ir = ir, .expr = fn, .expr_arg = arg}, s) : NULL;
}

void stmt_visit(const Stmt *s, StmtVisitFn *fn, void *arg)
{
    if (!s || !fn(s, arg))
        return;
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            stmt_visit(s->u.block.list[i], fn, arg);
        break;
    case ST_FOR:
        stmt_visit(s->u.loop.body, fn, arg);
        break;
    case ST_WHILE: case ST_IF:
        stmt_visit(s->u.branch.then, fn, arg);
        stmt_visit(s->u.branch.orelse, fn, arg);
        break;
    case ST_ROLE:
        stmt_visit(s->u.role.body, fn, arg);
        break;
    default:
        break;
    }
}

static void see(const Expr *e, ExprVisitFn *fn, void *arg)
{
    if (e)
        expr_visit(e, fn, arg);
}

static void see_list(int n, const Expr *const *e, ExprVisitFn *fn, void *arg)
{
    for (int i = 0; i < n; i++)
        see(e[i], fn, arg);
}

static void see_regions(int n, const Region *r, ExprVisitFn *fn, void *arg)
{
    for (int i = 0; i < n; i++) {
        see_list(r[i].buf->rank, r[i].at, fn, arg);
        see_list(r[i].buf->rank, r[i].extent, fn, arg);
    }
}

static void see_hints(Hints h, ExprVisitFn *fn, void *arg)
{
    for (int i = 0; i < h.n; i++)
        see(h.at[i].value, fn, arg);
}

void stmt_visit_expr(const Stmt *s, ExprVisitFn *fn, void *arg)
{
    switch (s->kind) {
    case ST_LET:
        see(s->u.let.value, fn, arg);
        break;
    case ST_STORE:
        see_list(s->u.store.n, s->u.store.at, fn, arg);
        see(s->u.store.value, fn, arg);
        see(s->u.store.guard, fn, arg);
        break;
    case ST_FOR:
        see(s->u.loop.min, fn, arg);
        see(s->u.loop.extent, fn, arg);
        see_hints(s->u.loop.hints, fn, arg);
        break;
    case ST_WHILE: case ST_IF:
        see(s->u.branch.cond, fn, arg);
        break;
    case ST_TILE:
        see_regions(s->u.tile.nregion, s->u.tile.region, fn, arg);
        see_list(s->u.tile.narg, s->u.tile.arg, fn, arg);
        see_hints(s->u.tile.hints, fn, arg);
        break;
    case ST_ATOMIC:
        see_list(s->u.atomic.n, s->u.atomic.at, fn, arg);
        see(s->u.atomic.value, fn, arg);
        break;
    case ST_CALL:
        see_list(s->u.call.n, s->u.call.arg, fn, arg);
        see_regions(s->u.call.nregion, s->u.call.region, fn, arg);
        break;
    case ST_ASSERT:
        see(s->u.check.cond, fn, arg);
        break;
    case ST_INSTR:
        see_regions(s->u.instr.nregion, s->u.instr.region, fn, arg);
        see_list(s->u.instr.narg, s->u.instr.arg, fn, arg);
        break;
    case ST_EVAL:
        see(s->u.eval, fn, arg);
        break;
    default:
        break;
    }
}

/* ---- substitution ----------------------------------------------------------------------- */

typedef struct {
    const Var *var; /* one variable, or */
    const Expr *by;
    const Map *vars, *bufs;
} Subst;

static const Expr *load_from(Ir *ir, const Expr *e, Buffer *b)
{
    int n = expr_nindex(e);
    if (e->op == EX_ADDR)
        return expr_addr(ir, b, e->kid, n);
    return e->guarded ? expr_load_guarded(ir, b, e->kid, n, e->kid[n], e->kid[n + 1])
                      : expr_load(ir, b, e->kid, n);
}

static const Expr *subst_node(Ir *ir, const Expr *e, void *arg)
{
    const Subst *s = arg;
    if (e->op == EX_VAR) {
        const Expr *by = s->var == e->u.var ? s->by : s->vars ? map_get(s->vars, e->u.var) : NULL;
        return by ? by : e;
    }
    if (s->bufs && (e->op == EX_LOAD || e->op == EX_ADDR)) {
        Buffer *b = map_get(s->bufs, e->u.buf);
        return b ? load_from(ir, e, b) : e;
    }
    return e;
}

static const Expr *subst_whole(Ir *ir, const Expr *e, void *arg)
{
    const Subst *s = arg;
    if (s->var && !expr_uses_var(e, s->var))
        return e;
    return expr_map(ir, e, subst_node, arg);
}

const Expr *expr_subst(Ir *ir, const Expr *e, const Var *v, const Expr *by)
{
    Subst s = {.var = v, .by = by};
    return subst_whole(ir, e, &s);
}

const Stmt *stmt_subst(Ir *ir, const Stmt *s, const Var *v, const Expr *by)
{
    Subst t = {.var = v, .by = by};
    return stmt_map_expr(ir, s, subst_whole, &t);
}

const Stmt *stmt_for_own(Ir *ir, const Stmt *s)
{
    const Var *was = s->u.loop.var;
    Var *v = var_new(ir, was->name, was->type, was->span);

    v->order = was->order;
    return stmt_for(ir, s->span, s->u.loop.how, v, s->u.loop.min, s->u.loop.extent, s->u.loop.hints,
                    stmt_subst(ir, s->u.loop.body, was, expr_var(ir, v)));
}

const Expr *expr_subst_map(Ir *ir, const Expr *e, const Map *vars, const Map *bufs)
{
    Subst s = {.vars = vars, .bufs = bufs};
    return subst_whole(ir, e, &s);
}

const Stmt *stmt_subst_map(Ir *ir, const Stmt *s, const Map *vars, const Map *bufs)
{
    Subst t = {.vars = vars, .bufs = bufs};
    if (!s)
        return NULL;
    return map_stmt(&(Mapper){.ir = ir, .expr = subst_whole, .expr_arg = &t, .bufs = bufs}, s);
}
