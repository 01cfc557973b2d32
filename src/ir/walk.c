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

enum { FOLDS_DEEP = 4 };

static bool is_part(const Expr *e, const Expr *of, int depth)
{
    bool found = e == of;
    for (int i = 0; i < of->nkid && depth > 0 && !found; i++)
        found = is_part(e, of->kid[i], depth - 1);
    return found;
}

/* Is what an operator became one of its operands, which are mapped, or a part of one? */
static bool is_mapped(const Expr *r, const Expr *e, const Expr *const *kid)
{
    bool found = false;
    if (r->nkid == e->nkid && r->op == e->op && !memcmp(r->kid, kid, sizeof *kid * (size_t)e->nkid))
        return false;
    for (int i = 0; i < e->nkid && !found; i++)
        found = is_part(r, kid[i], FOLDS_DEEP);
    return found;
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
    const Expr *r = same ? e : expr_with_kids(ir, e, kid);
    if (same || !is_mapped(r, e, kid))
        r = fn(ir, r, arg);
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

static bool any_expr(const Expr *e, ExprTestFn *test, void *arg)
{
    if (test(e, arg))
        return true;
    for (int i = 0; i < e->nkid; i++)
        if (any_expr(e->kid[i], test, arg))
            return true;
    return false;
}

/* Tests are free to take what they are asked about as their own. */
static void *free_of_const(const void *arg)
{
    return (void *)(uintptr_t)arg;
}

bool expr_any(const Expr *e, ExprTestFn *test, const void *arg)
{
    return e && any_expr(e, test, free_of_const(arg));
}

/* ---- statements ------------------------------------------------------------------------- */

/* What statements hold besides others, in the order in which it is mapped and visited. */
typedef enum { PART_EXPR, PART_LIST, PART_REGIONS, PART_HINTS, PART_BUFFER } PartKind;

typedef struct {
    PartKind kind;
    size_t at, n; /* in a Stmt: the part, and of a list or of regions how many */
} Part;

#define PART(kind, field) {PART_##kind, offsetof(Stmt, u.field), 0}
#define PARTS(kind, field, count) {PART_##kind, offsetof(Stmt, u.field), offsetof(Stmt, u.count)}
static const struct {
    int n;
    Part part[4];
} parts_of[ST_COUNT] = {
    [ST_LET] = {1, {PART(EXPR, let.value)}},
    [ST_STORE] = {4, {PART(BUFFER, store.buf), PARTS(LIST, store.at, store.n),
                      PART(EXPR, store.value), PART(EXPR, store.guard)}},
    [ST_FOR] = {3, {PART(EXPR, loop.min), PART(EXPR, loop.extent), PART(HINTS, loop.hints)}},
    [ST_WHILE] = {1, {PART(EXPR, branch.cond)}},
    [ST_IF] = {1, {PART(EXPR, branch.cond)}},
    [ST_TILE] = {3, {PARTS(REGIONS, tile.region, tile.nregion), PARTS(LIST, tile.arg, tile.narg),
                     PART(HINTS, tile.hints)}},
    [ST_ATOMIC] = {3, {PART(BUFFER, atomic.buf), PARTS(LIST, atomic.at, atomic.n),
                       PART(EXPR, atomic.value)}},
    [ST_CALL] = {2, {PARTS(LIST, call.arg, call.n), PARTS(REGIONS, call.region, call.nregion)}},
    [ST_ASSERT] = {1, {PART(EXPR, check.cond)}},
    [ST_INSTR] = {2, {PARTS(REGIONS, instr.region, instr.nregion),
                      PARTS(LIST, instr.arg, instr.narg)}},
    [ST_EVAL] = {1, {PART(EXPR, eval)}},
};

static void *field(const Stmt *s, size_t at)
{
    return (char *)(uintptr_t)s + at;
}

static int part_count(const Stmt *s, const Part *p)
{
    return p->n ? *(int *)field(s, p->n) : 1;
}

/* What to do with the parts of a statement; a NULL function leaves its parts alone. */
typedef struct {
    Ir *ir;
    ExprMapFn *expr;
    void *expr_arg;
    const Map *bufs;
    StmtMapFn *stmt;
    void *stmt_arg;
} Mapper;

static const Expr *one(const Mapper *m, const Expr *e)
{
    return e && m->expr ? m->expr(m->ir, e, m->expr_arg) : e;
}

static Buffer *buf(const Mapper *m, Buffer *b)
{
    Buffer *by = m->bufs && b ? map_get(m->bufs, b) : NULL;
    return by ? by : b;
}

static void *copy_of(Ir *ir, const void *of, size_t each, int n)
{
    void *copy = arena_alloc(ir->arena, each * (size_t)n);
    return memcpy(copy, of, each * (size_t)n);
}

static const Expr *const *list(const Mapper *m, int n, const Expr *const *old)
{
    const Expr **copy = NULL;
    for (int i = 0; i < n; i++) {
        const Expr *e = one(m, old[i]);
        if (e == old[i])
            continue;
        if (!copy)
            copy = copy_of(m->ir, old, sizeof *copy, n);
        copy[i] = e;
    }
    return copy ? copy : old;
}

static const Region *regions(const Mapper *m, int n, const Region *old)
{
    Region *copy = NULL;
    for (int i = 0; (m->expr || m->bufs) && i < n; i++) {
        const Region *r = &old[i];
        const Expr *const *at = list(m, r->buf->rank, (const Expr *const *)r->at);
        const Expr *const *extent = list(m, r->buf->rank, (const Expr *const *)r->extent);
        Buffer *b = buf(m, r->buf);
        if (b == r->buf && at == r->at && extent == r->extent)
            continue;
        if (!copy)
            copy = copy_of(m->ir, old, sizeof *copy, n);
        copy[i] = (Region){b, (const Expr **)(uintptr_t)at, (const Expr **)(uintptr_t)extent};
    }
    return copy ? copy : old;
}

static const Hint *hints(const Mapper *m, Hints h)
{
    Hint *copy = NULL;
    for (int i = 0; i < h.n; i++) {
        const Expr *v = one(m, h.at[i].value);
        if (v == h.at[i].value)
            continue;
        if (!copy)
            copy = copy_of(m->ir, h.at, sizeof *copy, h.n);
        copy[i].value = v;
    }
    return copy ? copy : h.at;
}

/* A part and what it becomes are one pointer each, behind which hints have their number. */
static bool map_part(const Mapper *m, Stmt *c, const Part *p)
{
    void *at = field(c, p->at);
    int n = part_count(c, p);
    const void *was, *now = NULL;

    memcpy(&was, at, sizeof was);
    switch (p->kind) {
    case PART_EXPR: now = one(m, was); break;
    case PART_LIST: now = list(m, n, was); break;
    case PART_REGIONS: now = regions(m, n, was); break;
    case PART_HINTS: now = hints(m, *(Hints *)at); break;
    case PART_BUFFER: now = buf(m, *(Buffer **)at); break;
    }
    memcpy(at, &now, sizeof now);
    return now != was;
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

static const Stmt *map_stmt(void *mapper, const Stmt *s)
{
    const Mapper *m = mapper;
    Stmt copy = *s;
    bool changed = false;

    for (int i = 0; i < parts_of[s->kind].n; i++)
        changed |= map_part(m, &copy, &parts_of[s->kind].part[i]);
    if (changed) {
        retype(m, &copy);
        s = copy_of(m->ir, &copy, sizeof copy, 1);
    }
    s = stmt_map_kids(m->ir, s, map_stmt, mapper);
    return m->stmt ? m->stmt(m->ir, s, m->stmt_arg) : s;
}

const Stmt *stmt_map(Ir *ir, const Stmt *s, StmtMapFn *fn, void *arg)
{
    return s ? map_stmt(&(Mapper){.ir = ir, .stmt = fn, .stmt_arg = arg}, s) : NULL;
}

const Stmt *stmt_map_expr(Ir *ir, const Stmt *s, ExprMapFn *fn, void *arg)
{
    return s ? map_stmt(&(Mapper){.ir = ir, .expr = fn, .expr_arg = arg}, s) : NULL;
}

/* ---- statements inside ------------------------------------------------------------------ */

int stmt_nkid(const Stmt *s)
{
    switch (s->kind) {
    case ST_BLOCK: return s->u.block.n;
    case ST_IF: return 1 + (s->u.branch.orelse != NULL);
    case ST_FOR: case ST_WHILE: case ST_ROLE: return 1;
    default: return 0;
    }
}

const Stmt *stmt_kid(const Stmt *s, int i)
{
    switch (s->kind) {
    case ST_BLOCK: return s->u.block.list[i];
    case ST_FOR: return s->u.loop.body;
    case ST_ROLE: return s->u.role.body;
    default: return i ? s->u.branch.orelse : s->u.branch.then;
    }
}

static void set_kid(Ir *ir, Stmt *s, int i, const Stmt *kid)
{
    if (s->kind == ST_IF && i)
        s->u.branch.orelse = stmt_is_empty(kid) ? NULL : kid;
    else
        *(s->kind == ST_FOR    ? &s->u.loop.body
          : s->kind == ST_ROLE ? &s->u.role.body
                               : &s->u.branch.then) =
            kid ? kid : stmt_block(ir, s->span, 0, NULL);
}

const Stmt *stmt_map_kids(Ir *ir, const Stmt *s, StmtKidFn *fn, void *arg)
{
    int n = stmt_nkid(s);
    const Stmt **list_of = NULL;
    Stmt *copy = NULL;

    for (int i = 0; i < n; i++) {
        const Stmt *old = stmt_kid(s, i), *r = old ? fn(arg, old) : NULL;
        if (r == old)
            continue;
        if (s->kind == ST_BLOCK) {
            list_of = list_of ? list_of : copy_of(ir, s->u.block.list, sizeof *list_of, n);
            list_of[i] = r;
        } else {
            copy = copy ? copy : copy_of(ir, s, sizeof *s, 1);
            set_kid(ir, copy, i, r);
        }
    }
    return list_of ? stmt_block(ir, s->span, n, list_of) : copy ? copy : s;
}

void stmt_visit(const Stmt *s, StmtVisitFn *fn, void *arg)
{
    if (!s || !fn(s, arg))
        return;
    for (int i = 0, n = stmt_nkid(s); i < n; i++)
        stmt_visit(stmt_kid(s, i), fn, arg);
}

bool stmt_any(const Stmt *s, StmtTestFn *test, const void *arg)
{
    if (!s || test(s, free_of_const(arg)))
        return s != NULL;
    for (int i = 0, n = stmt_nkid(s); i < n; i++)
        if (stmt_any(stmt_kid(s, i), test, arg))
            return true;
    return false;
}

/* ---- expressions of a statement ---------------------------------------------------------- */

typedef bool HeldFn(const Expr *e, void *arg); /* true: enough */

static bool each_of(int n, const Expr *const *e, HeldFn *fn, void *arg)
{
    for (int i = 0; i < n; i++)
        if (e[i] && fn(e[i], arg))
            return true;
    return false;
}

static bool each_of_region(const Region *r, HeldFn *fn, void *arg)
{
    return each_of(r->buf->rank, r->at, fn, arg) || each_of(r->buf->rank, r->extent, fn, arg);
}

static bool each_of_part(const Stmt *s, const Part *p, HeldFn *fn, void *arg)
{
    void *at = field(s, p->at);
    int n = part_count(s, p);
    bool done = false;

    switch (p->kind) {
    case PART_EXPR: return each_of(1, at, fn, arg);
    case PART_LIST: return each_of(n, *(const Expr *const **)at, fn, arg);
    case PART_REGIONS:
        for (int i = 0; i < n && !done; i++)
            done = each_of_region(&(*(const Region **)at)[i], fn, arg);
        return done;
    case PART_HINTS:
        for (int i = 0; i < ((Hints *)at)->n && !done; i++)
            done = each_of(1, &((Hints *)at)->at[i].value, fn, arg);
        return done;
    case PART_BUFFER: break;
    }
    return false;
}

static bool each_held(const Stmt *s, HeldFn *fn, void *arg)
{
    for (int i = 0; i < parts_of[s->kind].n; i++)
        if (each_of_part(s, &parts_of[s->kind].part[i], fn, arg))
            return true;
    return false;
}

typedef struct {
    ExprVisitFn *visit;
    ExprTestFn *test;
    void *visit_arg;
    const void *test_arg;
} Ask;

static bool visit_held(const Expr *e, void *arg)
{
    const Ask *a = arg;
    expr_visit(e, a->visit, a->visit_arg);
    return false;
}

void stmt_visit_expr(const Stmt *s, ExprVisitFn *fn, void *arg)
{
    each_held(s, visit_held, &(Ask){.visit = fn, .visit_arg = arg});
}

static bool test_held(const Expr *e, void *arg)
{
    const Ask *a = arg;
    return expr_any(e, a->test, a->test_arg);
}

bool stmt_holds_expr(const Stmt *s, ExprTestFn *test, const void *arg)
{
    return each_held(s, test_held, &(Ask){.test = test, .test_arg = arg});
}

static bool holds(const Stmt *s, void *ask)
{
    return each_held(s, test_held, ask);
}

bool stmt_any_expr(const Stmt *s, ExprTestFn *test, const void *arg)
{
    return stmt_any(s, holds, &(Ask){.test = test, .test_arg = arg});
}

/* ---- what is often asked ----------------------------------------------------------------- */

static bool is_var(const Expr *e, void *var)
{
    return e->op == EX_VAR && e->u.var == var;
}

bool stmt_uses_var(const Stmt *s, const Var *v)
{
    return stmt_any_expr(s, is_var, v);
}

static bool is_load_of(const Expr *e, void *root)
{
    return e->op == EX_LOAD && buffer_root(e->u.buf) == root;
}

bool expr_loads(const Expr *e, const Buffer *b)
{
    return expr_any(e, is_load_of, buffer_root(b));
}

static bool note_var(const Expr *e, void *vars)
{
    if (e->op == EX_VAR)
        map_set(vars, e->u.var, e);
    return true;
}

static bool note_vars(const Stmt *s, void *vars)
{
    stmt_visit_expr(s, note_var, vars);
    return true;
}

void expr_vars(const Expr *e, Map *vars)
{
    expr_visit(e, note_var, vars);
}

void stmt_vars(const Stmt *s, Map *vars)
{
    stmt_visit(s, note_vars, vars);
}

static bool note_name(const Stmt *s, void *vars)
{
    if (stmt_binds(s))
        map_set(vars, stmt_binds(s), s);
    return true;
}

void stmt_names(const Stmt *s, Map *vars)
{
    stmt_visit(s, note_name, vars);
}

Var *stmt_binds(const Stmt *s)
{
    switch (s->kind) {
    case ST_LET: return s->u.let.var;
    case ST_FOR: return s->u.loop.var;
    case ST_ATOMIC: return s->u.atomic.bind;
    case ST_CALL: return s->u.call.bind;
    default: return NULL;
    }
}

Buffer *stmt_stores(const Stmt *s)
{
    return s->kind == ST_STORE ? s->u.store.buf : s->kind == ST_ATOMIC ? s->u.atomic.buf : NULL;
}

const Region *stmt_regions(const Stmt *s, int *n)
{
    *n = s->kind == ST_TILE    ? s->u.tile.nregion
         : s->kind == ST_CALL  ? s->u.call.nregion
         : s->kind == ST_INSTR ? s->u.instr.nregion
                               : 0;
    return s->kind == ST_TILE   ? s->u.tile.region
           : s->kind == ST_CALL ? s->u.call.region
           : *n                 ? s->u.instr.region
                                : NULL;
}

static bool is_leaving(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_BREAK || s->kind == ST_CONTINUE || stmt_calls(s, INTRIN_RETURN);
}

bool stmt_leaves(const Stmt *s)
{
    return stmt_any(s, is_leaving, NULL);
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

static const Expr *subst_node(Ir *ir, const Expr *e, const Subst *s)
{
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

/* Not by expr_map: what an operator folds to with its new operands may be a variable that was put
 * in, and is not to be replaced once more. */
static const Expr *subst_expr(Ir *ir, ExprMemo *m, const Expr *e, const Subst *s)
{
    if (e->nkid == 0)
        return subst_node(ir, e, s);
    int at = memo_find(m, e);
    if (m->slot[at].round == m->round)
        return m->slot[at].val;
    const Expr *few[KIDS_LOCAL];
    const Expr **kid = e->nkid <= KIDS_LOCAL ? few : NEWN(ir->arena, const Expr *, e->nkid);
    bool same = true;
    for (int i = 0; i < e->nkid; i++) {
        kid[i] = subst_expr(ir, m, e->kid[i], s);
        same = same && kid[i] == e->kid[i];
    }
    const Expr *r = same ? e : expr_with_kids(ir, e, kid);
    if (e->op == EX_LOAD || e->op == EX_ADDR)
        r = subst_node(ir, r, s);
    memo_set(ir, m, e, r);
    return r;
}

static const Expr *subst_whole(Ir *ir, const Expr *e, void *arg)
{
    const Subst *s = arg;
    if (s->var && !expr_uses_var(e, s->var))
        return e;
    ExprMemo *m = memo_take(ir);
    const Expr *r = subst_expr(ir, m, e, s);
    memo_give(ir, m);
    return r;
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
