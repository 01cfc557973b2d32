/* opt_fuse.c -- loops over the same rows become one, so that a row is in the cache while it is
 * used.
 *
 * needs   FORM_GUARDED
 * breaks  FORM_SIMPLE
 *
 *     for i: for j: x[i, j] = X[i, j]             for i:
 *     for i: acc = -inf                               acc = -inf
 *            for j: acc = max(acc, x[i, j])           for j: t = X[i, j]
 *            m[i] = acc                                      x[i, j] = t
 *                                                            acc = max(acc, t)
 *                                                     m[i] = acc
 *
 * Two loops may be joined when no two of their iterations but equal ones touch the same element, or
 * neither writes it.  A tile that only takes a row of a tensor to the next loop is not made: that
 * loop reads the tensor.  Loops that cannot be joined because one has no inner loop run strip by
 * strip when their rows do not all fit the first level cache.  A value just stored is not loaded
 * again, and what is stored to a tile for the last time without being read is not stored. */
#include "target/cpu/pass/rows.h"

enum {
    ROOM = 16 << 10, /* bytes of rows that stay in the first level cache */
    REACH = 64,      /* statements that are looked at beyond a loop: each pair is compared */
};

/* ---- may two loops be one? ------------------------------------------------------------------- */

static bool is_load_of(const Expr *e, void *buf)
{
    return e->op == EX_LOAD && e->u.buf == buf;
}

static bool reads_var(const Expr *e, const Buffer *b)
{
    return expr_any(e, is_load_of, b);
}

/* acc = acc op value, in every iteration: any order of them will do. */
static bool is_fold(const Stmt *s)
{
    if (s->kind != ST_STORE || s->u.store.buf->scope != MEM_VAR || s->u.store.guard)
        return false;
    const Expr *x = s->u.store.value;
    if (x->op != EX_ADD && x->op != EX_MAX && x->op != EX_MIN)
        return false;
    return reads_var(x->kid[0], s->u.store.buf) != reads_var(x->kid[1], s->u.store.buf) &&
           (x->kid[0]->op == EX_LOAD || x->kid[1]->op == EX_LOAD);
}

/* What the joined loop is; LOOP_COUNT: they stay two. */
static LoopHow joined_how(Arena *m, const Stmt *a, const Stmt *b)
{
    const Stmt *ba = a->u.loop.body, *bb = b->u.loop.body;
    bool na = uses_of(m, ba).loops, nb = uses_of(m, bb).loops;

    if (na != nb)
        return LOOP_COUNT;
    if (na)
        return LOOP_SERIAL;
    bool va = a->u.loop.how == LOOP_VECTOR, vb = b->u.loop.how == LOOP_VECTOR;
    bool fits = (va || is_fold(ba)) && (vb || is_fold(bb));
    return fits ? LOOP_VECTOR : LOOP_COUNT;
}

/* ---- joining --------------------------------------------------------------------------------- */

typedef struct {
    const Stmt *store;
    const Expr *value; /* the variable that holds what was stored */
    bool used;
} Known;

static const Expr *take_known(Ir *ir, const Expr *e, void *arg)
{
    Known *k = arg;

    (void)ir;
    if (!store_is_read(k->store, e))
        return e;
    k->used = true;
    return k->value;
}

static const Expr *take_known_in(Ir *ir, const Expr *e, void *arg)
{
    return expr_map(ir, e, take_known, arg);
}

/* A stored value is the value itself only where storing does not round or wrap it. */
static bool keeps_value(const Stmt *s)
{
    DType t = s->u.store.buf->type;
    return s->kind == ST_STORE && !s->u.store.guard && s->u.store.buf->scope != MEM_VAR &&
           s->u.store.value->type == t && s->u.store.value->lanes == 1 &&
           (t == DT_F32 || t == DT_F64 || t == DT_I32);
}

static bool is_write_to(const Stmt *s, void *root)
{
    const Buffer *b = stmt_stores(s);
    return b && buffer_root(b) == root;
}

/* In a branch or loop of it, too. */
static bool writes_to(const Stmt *s, const Buffer *b)
{
    return stmt_any(s, is_write_to, buffer_root(b));
}

/* Of stores one after the other, what the first stored is not loaded by the next. */
static const Stmt *forward(Ir *ir, const Stmt *body)
{
    VEC(const Stmt *) out = {0};

    if (body->kind != ST_BLOCK)
        return body;
    int n = body->u.block.n;
    const Stmt **list = NEWN(ir->arena, const Stmt *, n);
    memcpy(list, body->u.block.list, sizeof *list * (size_t)n);
    for (int i = 0; i < n; i++) {
        const Stmt *s = list[i];
        if (s->kind != ST_STORE || !keeps_value(s)) {
            vec_push(ir->arena, &out, s);
            continue;
        }
        Var *v = var_new(ir, s->u.store.buf->name, s->u.store.buf->type, s->span);
        Known k = {s, expr_var(ir, v), false};
        for (int j = i + 1; j < n; j++) {
            bool ends = writes_to(list[j], s->u.store.buf);
            if (!ends || list[j]->kind == ST_STORE)
                list[j] = stmt_map_expr(ir, list[j], take_known_in, &k);
            if (ends)
                break;
        }
        if (k.used) {
            vec_push(ir->arena, &out, stmt_let(ir, s->span, v, s->u.store.value));
            s = stmt_store(ir, s->span, s->u.store.buf, s->u.store.at, s->u.store.n, k.value);
        }
        vec_push(ir->arena, &out, s);
    }
    return stmt_block(ir, body->span, out.n, out.at);
}

static const Stmt *join_list(Ir *ir, const Stmt *block);

static const Stmt *join(Ir *ir, const Stmt *a, const Stmt *b, LoopHow how)
{
    const Stmt *second = stmt_subst(ir, b->u.loop.body, b->u.loop.var, expr_var(ir, a->u.loop.var));
    const Stmt *body = stmt_seq(ir, a->u.loop.body, second);

    body = how == LOOP_VECTOR ? forward(ir, body) : join_list(ir, body);
    return stmt_for(ir, a->span, how, a->u.loop.var, a->u.loop.min, a->u.loop.extent,
                    a->u.loop.hints, body);
}

static bool commutes_with_all(Ir *ir, const Stmt *const *list, int from, int to, const Uses *u)
{
    for (int i = from; i < to; i++) {
        if (!list[i])
            continue;
        Uses w = uses_of(ir->arena, list[i]);
        if (!commute(u, &w))
            return false;
    }
    return true;
}

/* Something before it gives a name that it uses. */
static bool uses_a_name(const Stmt *const *list, int from, int at)
{
    for (int i = from; i < at; i++)
        if (list[i] && list[i]->kind == ST_LET && stmt_uses_var(list[at], list[i]->u.let.var))
            return true;
    return false;
}

typedef struct {
    int at;      /* place of the loop that host takes in, or -1 */
    LoopHow how;
    bool rises;  /* it moves up to host; otherwise what stands between goes before host */
} Guest;

static Guest find_guest(Ir *ir, const Stmt *const *list, int n, int host)
{
    Uses u = uses_of(ir->arena, list[host]);
    bool blocked = false;

    for (int i = host + 1, seen = 0; i < n && seen < REACH && !u.opaque; i++) {
        if (!list[i])
            continue;
        seen++;
        Uses w = uses_of(ir->arena, list[i]);
        if (w.opaque)
            break;
        if (is_fusable(list[i]) && same_range(list[host], list[i])) {
            LoopHow how = joined_how(ir->arena, list[host], list[i]);
            if (how != LOOP_COUNT &&
                independent(ir, &u, list[host]->u.loop.var, &w, list[i]->u.loop.var) &&
                (!blocked || (commutes_with_all(ir, list, host + 1, i, &w) &&
                              !uses_a_name(list, host + 1, i))))
                return (Guest){i, how, blocked};
        }
        blocked |= !commute(&u, &w) || list[i]->kind == ST_LET;
    }
    return (Guest){.at = -1};
}

static const Stmt *join_once(Ir *ir, const Stmt *block)
{
    VEC(const Stmt *) out = {0};
    int n = block->u.block.n;
    const Stmt **list = NEWN(ir->arena, const Stmt *, n);

    memcpy(list, block->u.block.list, sizeof *list * (size_t)n);
    for (int i = 0; i < n; i++) {
        Guest g;
        while (list[i] && is_fusable(list[i]) && (g = find_guest(ir, list, n, i)).at >= 0) {
            const Stmt *joined = join(ir, list[i], list[g.at], g.how);
            list[g.at] = NULL;
            if (!g.rises) {
                memmove(list + i, list + i + 1, sizeof *list * (size_t)(g.at - i));
                i = g.at;
            }
            list[i] = joined;
        }
    }
    for (int i = 0; i < n; i++)
        if (list[i])
            vec_push(ir->arena, &out, list[i]);
    return out.n == n ? block : stmt_block(ir, block->span, out.n, out.at);
}

/* Until nothing is joined any more: a join may bring together what stood apart. */
static const Stmt *join_list(Ir *ir, const Stmt *block)
{
    const Stmt *before;

    do {
        before = block;
        block = block->kind == ST_BLOCK ? join_once(ir, block) : block;
    } while (block != before);
    return block;
}

static const Stmt *join_hook(Ir *ir, const Stmt *s, void *arg)
{
    (void)arg;
    if (s->kind == ST_STORE && s->u.store.buf->scope != MEM_GLOBAL &&
        store_is_read(s, s->u.store.value))
        return NULL;
    return s->kind == ST_BLOCK ? join_list(ir, s) : s;
}

/* ---- strips ---------------------------------------------------------------------------------- */

/* Bytes of the tile's row that belongs to one iteration; 0 for what is not a tile by rows. */
static int64_t row_bytes(const Touch *t, const Var *v)
{
    int64_t extent = 0;

    if (t->buf->scope != MEM_FRAGMENT && t->buf->scope != MEM_SHARED)
        return 0;
    for (int d = 0; d < t->n; d++)
        if (expr_uses_var(t->at[d], v) && expr_is_int(t->buf->shape[d], &extent) && extent > 0)
            return dtype_bytes(t->buf->type, buffer_static_size(t->buf) / extent);
    return 0;
}

/* The largest divisor of n that is at most `most`. */
static int64_t part_of(int64_t n, int64_t most)
{
    for (int64_t r = MAX(most, 1); r > 1; r--)
        if (n % r == 0)
            return r;
    return 1;
}

static const Stmt *strip_loop(Ir *ir, const Stmt *s, const Expr *first, int64_t rows)
{
    Var *v = s->u.loop.var;

    if (rows == 1)
        return stmt_subst(ir, s->u.loop.body, v, first);
    Var *inner = var_new(ir, v->name, v->type, v->span);
    const Stmt *body = stmt_subst(ir, s->u.loop.body, v, expr_add(ir, first, expr_var(ir, inner)));
    return stmt_for(ir, s->span, s->u.loop.how, inner, expr_const(ir, v->type, 0),
                    expr_const(ir, v->type, rows), s->u.loop.hints, body);
}

/* list[from, to): strips of `rows`, each through all of the loops. */
static const Stmt *strips(Ir *ir, const Stmt *const *list, int from, int to, int64_t n,
                          int64_t rows)
{
    const Stmt *head = list[from];
    Var *v = var_new(ir, head->u.loop.var->name, head->u.loop.var->type, head->span);
    const Expr *first = expr_var(ir, v);
    if (rows > 1)
        first = expr_mul(ir, first, expr_const(ir, v->type, rows));
    const Stmt *body = NULL;

    for (int i = from; i < to; i++)
        body = stmt_seq(ir, body, strip_loop(ir, list[i], first, rows));
    if (rows == 1)
        body = join_list(ir, body);
    return stmt_for(ir, head->span, LOOP_SERIAL, v, head->u.loop.min,
                    expr_const(ir, v->type, n / rows), head->u.loop.hints, body);
}

/* Statements side by side, and what they touch. */
typedef struct {
    const Stmt *const *list;
    Uses *uses;
    int n;
} Run;

/* Loops over the same rows, from `from` on. */
static int run_end(const Run *r, int from)
{
    int to = from + 1;

    while (to < r->n && to - from < REACH && is_fusable(r->list[to]) &&
           same_range(r->list[from], r->list[to]))
        to++;
    return to;
}

/* How far of [from, to) the loops may run strip by strip. */
static int strip_end(Ir *ir, const Run *r, int from, int to)
{
    for (int j = from + 1; j < to; j++)
        for (int i = from; i < j; i++)
            if (!independent(ir, &r->uses[i], r->list[i]->u.loop.var, &r->uses[j],
                             r->list[j]->u.loop.var))
                return j;
    return to;
}

typedef struct {
    const Buffer *buf;
    int64_t bytes;
    bool again; /* by a second loop */
} Row;

/* Bytes per iteration of the tiles that more than one of the loops touch. */
static int64_t run_bytes(Ir *ir, const Run *run, int from, int to)
{
    VEC(Row) rows = {0};
    int64_t sum = 0;

    for (int i = from; i < to; i++) {
        const Uses *u = &run->uses[i];
        int before = rows.n;
        for (int j = 0; j < u->touch.n; j++) {
            const Touch *t = &u->touch.at[j];
            int r = 0;
            while (r < rows.n && rows.at[r].buf != t->buf)
                r++;
            if (r == rows.n) {
                Row row = {t->buf, row_bytes(t, run->list[i]->u.loop.var), false};
                vec_push(ir->arena, &rows, row);
            }
            if (r < before)
                rows.at[r].again = true;
        }
    }
    for (int r = 0; r < rows.n; r++)
        sum += rows.at[r].again ? rows.at[r].bytes : 0;
    return sum;
}

/* The loops from *to - 1 on that run strip by strip, up to *to; returns the rows of a strip, or 0:
 * none do.  More loops have no fewer bytes, so most runs need not be compared pair by pair. */
static int64_t strip_rows(Ir *ir, const Run *r, int *to, int64_t *n)
{
    int from = *to - 1, end = is_fusable(r->list[from]) ? run_end(r, from) : *to;
    int64_t min;

    if (end == *to || !expr_is_int(r->list[from]->u.loop.extent, n) ||
        !expr_is_int(r->list[from]->u.loop.min, &min) || min != 0 ||
        run_bytes(ir, r, from, end) * *n <= ROOM)
        return 0;
    end = strip_end(ir, r, from, end);
    int64_t bytes = end > *to ? run_bytes(ir, r, from, end) : 0;
    int64_t rows = bytes * *n > ROOM ? part_of(*n, ROOM / bytes) : *n;
    if (rows == *n)
        return 0;
    *to = end;
    return rows;
}

static const Stmt *strip_hook(Ir *ir, const Stmt *s, void *arg)
{
    VEC(const Stmt *) out = {0};
    int64_t n = 0;

    (void)arg;
    if (s->kind != ST_BLOCK || s->u.block.n == 0)
        return s;
    Run r = {s->u.block.list, NEWN(ir->arena, Uses, s->u.block.n), s->u.block.n};
    for (int i = 0; i < r.n; i++)
        r.uses[i] = uses_of(ir->arena, r.list[i]);
    for (int i = 0, to; i < r.n; i = to) {
        to = i + 1;
        int64_t rows = strip_rows(ir, &r, &to, &n);
        vec_push(ir->arena, &out, rows ? strips(ir, r.list, i, to, n, rows) : r.list[i]);
    }
    return out.n == r.n ? s : stmt_block(ir, s->span, out.n, out.at);
}

void pass_opt_fuse(Kernel *k)
{
    if (k->uses_threads || k->func->may_overlap)
        return;
    const Stmt *body = stmt_map(k->ir, k->body, join_hook, NULL);
    body = stmt_map(k->ir, body, strip_hook, NULL);
    if (body == k->body)
        return;
    k->body = drop_useless(k, body);
    k->relies_apart = true;
}
