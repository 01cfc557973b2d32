/* vector.c -- loops over neighbouring elements as instructions of the vector unit.
 *
 * A vectorised loop, or a nest of two whose elements lie side by side, is one instruction for each
 * operator of its expressions (vector_expr.c); rows between global memory and UB are one transfer.
 * What has no instruction (gathers, 64-bit integers, rows that start at no multiple of 32 bytes)
 * is left to the scalar unit. */
#include "target/ascend/vector.h"

enum { FLAT_MOST = 4096, ROWS_MOST = 4095 };

static int bytes_of(DType t)
{
    return dtype_bits(t) / 8;
}

/* ---- stores ---------------------------------------------------------------------------------- */

static void move_out(Vec *v, const Buffer *b, const Expr *base, const Operand *from)
{
    int place = place_find(v->a, b);
    Node *n = vector_op(v, P_MTE3,
                        "DataCopyPad(%s, %s, DataCopyExtParams{1, (uint32_t)(%s) * %d, 0, 0, "
                        "0})",
                        vector_at(v, buffer_name(&v->a->e, b), base), from->text, v->count,
                        bytes_of(b->type));

    node_touch(v->a, n, from->place, false);
    node_touch(v->a, n, place, true);
    for (int i = 0; i < v->a->loops.n; i++)
        if (!expr_uses_var(base, v->a->loops.at[i]))
            n->touch.at[n->touch.n - 1].again = true;
}

/* The instruction before this one made x: it writes to `to` instead.  False: another one did. */
static bool redirect(Vec *v, const Operand *to, const Operand *x)
{
    Arena *m = v->a->e.arena;
    Node *n = v->a->to->n ? v->a->to->at[v->a->to->n - 1] : NULL;
    const char *own = arena_printf(m, "(%s, ", x->text), *at = n ? strstr(n->text, own) : NULL;

    if (!x->temp || !at || n->kind != NODE_OP || n->pipe != P_V || at != strchr(n->text, '('))
        return false;
    n->text =
        arena_printf(m, "%.*s(%s, %s", (int)(at - n->text), n->text, to->text, at + strlen(own));
    for (int i = 0; i < n->touch.n; i++)
        if (n->touch.at[i].writes)
            n->touch.at[i].place = to->place;
    return true;
}

/* Into UB, or a temporary that goes to global memory. */
static void put(Vec *v, const Operand *to, char view, const Operand *x, bool direct)
{
    const char *fn, *last = "";

    if (direct && x->vector && x->type == view && redirect(v, to, x)) {
        vector_give(v, x);
        return;
    }
    bool whole = v->most % (BLOCK_BYTES / (view == 'f' || view == 'i' ? 4 : 2)) == 0 &&
                 expr_is_int(v->n, &(int64_t){0});

    if (!x->vector) {
        Node *n = vector_op(v, P_V, "Duplicate(%s, (%s)(%s), %s)", to->text,
                            view == 'f'   ? "float"
                            : view == 'i' ? "int32_t"
                            : view == 'h' ? "half"
                                          : "bfloat16_t",
                            x->text, v->count);
        node_touch(v->a, n, to->place, true);
        return;
    }
    if (x->type == view) {
        fn = whole ? "DataCopy" : "Muls";
        last = whole ? "" : view == 'i' ? ", (int32_t)1" : ", 1.0f";
    } else {
        fn = "Cast";
        last = ", RoundMode::CAST_RINT";
    }
    Node *n = vector_op(v, P_V, "%s(%s, %s%s, %s)", fn, to->text, x->text, last, v->count);
    node_touch(v->a, n, x->place, false);
    node_touch(v->a, n, to->place, true);
    vector_give(v, x);
}

/* A store of what another buffer of its type holds. */
static bool store_moved(Vec *v, const Stmt *s, const Expr *base, int place)
{
    const Expr *x = s->u.store.value;
    const Buffer *b = s->u.store.buf;
    Ascend *a = v->a;

    if (x->op != EX_LOAD || x->u.buf->type != b->type || x->guarded)
        return false;
    int from = place_find(a, x->u.buf);
    const Expr *row = from < 0 ? NULL : vector_row(v, x->kid[0]);
    if (!row || (a->places.at[from].space == IN_GM) == (a->places.at[place].space == IN_GM))
        return false;
    if (a->places.at[place].space == IN_GM) {
        if (!ascend_aligned(a, row, b->type))
            return false;
        move_out(
            v, b, base,
            &(Operand){true, vector_at(v, buffer_name(&a->e, x->u.buf), row), 'f', from, false});
        return true;
    }
    Node *n = vector_op(
        v, P_MTE2,
        "DataCopyPad(%s, %s, DataCopyExtParams{1, (uint32_t)(%s) * %d, 0, 0, 0}"
        ", DataCopyPadExtParams<%s>{false, 0, 0, %s})",
        vector_at(v, buffer_name(&a->e, b), base), vector_at(v, buffer_name(&a->e, x->u.buf), row),
        v->count, bytes_of(b->type), ascend_type(b->type), dtype_is_float(b->type) ? "0.0f" : "0");
    node_touch(a, n, from, false);
    node_touch(a, n, place, true);
    return true;
}

typedef struct {
    Vec *v;
    const Buffer *b;
    const Expr *base;
    bool found;
} Beside;

/* Elements of the buffer other than those that are written. */
static bool see_beside(const Expr *x, void *arg)
{
    Beside *c = arg;

    if (x->op == EX_LOAD && buffer_root(x->u.buf) == buffer_root(c->b) &&
        (x->u.buf != c->b || vector_row(c->v, x->kid[0]) != c->base))
        c->found = true;
    return true;
}

static void store(Vec *v, const Stmt *s)
{
    Ascend *a = v->a;
    const Buffer *b = s->u.store.buf;
    const Expr *base = s->u.store.guard ? NULL : vector_row(v, s->u.store.at[0]);
    int place = place_find(a, b);
    char view = vector_view(b->type);

    if (!base || place < 0 || !view) {
        v->bad = true;
        return;
    }
    bool ub = a->places.at[place].space == IN_UB;
    if ((!ub && a->places.at[place].space != IN_GM) || (ub && !ascend_aligned(a, base, b->type))) {
        v->bad = true;
        return;
    }
    /* DataCopyPad fills blocks of a tile to their end */
    if ((!ub || ascend_aligned(a, v->n, b->type)) && store_moved(v, s, base, place))
        return;
    if (view != 'f' && view != 'i' && view != 'h' && view != 'b') {
        v->bad = true;
        return;
    }
    Operand x = s->u.store.value->type == (uint8_t)b->type ? vector_eval_bare(v, s->u.store.value)
                                                           : vector_eval(v, s->u.store.value);
    if (v->bad || x.type == 'm' || (x.vector && (view == 'i') != (x.type == 'i'))) {
        v->bad = true;
        return;
    }
    if (ub) {
        Beside c = {v, b, base, false};
        expr_visit(s->u.store.value, see_beside, &c);
        put(v, &(Operand){true, vector_at(v, buffer_name(&a->e, b), base), view, place, false},
            view, &x, !c.found);
        return;
    }
    bool ready = x.vector && x.type == view;
    Operand t = ready ? x : vector_temp(v, view);
    if (!ready)
        put(v, &t, view, &x, true);
    move_out(v, b, base, &t);
    vector_give(v, &t);
}

/* acc = acc op value */
static bool fold(Vec *v, const Stmt *s)
{
    static const struct {
        ExprOp op;
        const char *fn;
    } table[] = {
        {EX_ADD, "ReduceSum"},
        {EX_MAX, "ReduceMax"},
        {EX_MIN, "ReduceMin"},
    };
    const Buffer *acc = s->u.store.buf;
    const Expr *x = s->u.store.value;
    int i = 0;

    while (i < COUNT(table) && table[i].op != (ExprOp)x->op)
        i++;
    if (acc->scope != MEM_VAR || s->u.store.guard || i == COUNT(table) || acc->type != DT_F32)
        return false;
    int own = x->kid[0]->op == EX_LOAD && x->kid[0]->u.buf == acc ? 0 : 1;
    if (x->kid[own]->op != EX_LOAD || x->kid[own]->u.buf != acc || expr_loads(x->kid[1 - own], acc))
        return false;
    Operand term = vector_eval(v, x->kid[1 - own]);
    if (v->bad || !term.vector || term.type != 'f')
        return false;
    Operand d = vector_temp(v, 'f'), work = vector_temp(v, 'f');
    Node *n = vector_op(v, P_V, "%s(%s, %s, %s, %s)", table[i].fn, d.text, term.text, work.text,
                        v->count);
    node_touch(v->a, n, term.place, false);
    node_touch(v->a, n, d.place, true);
    node_touch(v->a, n, work.place, true);
    const char *name = buffer_name(&v->a->e, acc);
    const char *form = x->op == EX_ADD   ? "%s = %s + %s"
                       : x->op == EX_MAX ? "%s = tl_max(%s, %s)"
                                         : "%s = tl_min(%s, %s)";
    const char *got = arena_printf(v->a->e.arena, "%s.GetValue(0)", d.text);
    n = vector_op(v, P_S, form, name, name, got);
    node_touch(v->a, n, d.place, false);
    vector_give(v, &term);
    vector_give(v, &d);
    vector_give(v, &work);
    return true;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void body(Vec *v, const Stmt *s)
{
    if (v->bad)
        return;
    if (s->kind == ST_BLOCK) {
        for (int i = 0; i < s->u.block.n; i++)
            body(v, s->u.block.list[i]);
    } else if (s->kind == ST_LET && vector_moves(v, s->u.let.value)) {
        Operand *o = NEW(v->a->e.arena, Operand);
        *o = vector_eval(v, s->u.let.value);
        map_set(&v->lets, s->u.let.var, o);
    } else if (s->kind == ST_STORE && s->u.store.buf->scope == MEM_VAR) {
        v->bad |= !fold(v, s);
    } else if (s->kind == ST_STORE) {
        store(v, s);
    } else {
        v->bad = true;
    }
}

typedef struct {
    Var *vars[2];
    int64_t inner;
    bool ok;
    Ir *ir;
} Side;

static bool lies_on(Side *c, const Expr *at)
{
    int64_t coef[2] = {0, 0};
    const Expr *base;

    if (!affine_of(c->ir, at, c->vars, 2, coef, &base))
        return false;
    return (coef[1] == 1 && coef[0] == c->inner) || (coef[0] == 0 && coef[1] == 0);
}

static bool see_side(const Expr *x, void *arg)
{
    Side *c = arg;

    if (x->op == EX_LOAD && x->u.buf->scope != MEM_VAR) {
        c->ok = c->ok && !x->guarded && lies_on(c, x->kid[0]);
        return false;
    }
    if (x->op == EX_IF || (x->op == EX_VAR && (x->u.var == c->vars[0] || x->u.var == c->vars[1])))
        c->ok = false;
    return c->ok;
}

static const Stmt *only(const Stmt *s)
{
    while (s->kind == ST_BLOCK && s->u.block.n == 1)
        s = s->u.block.list[0];
    return s;
}

/* Rows of a nest that lie one behind the other: one long loop; NULL: they do not. */
static const Stmt *flatten(Ascend *a, const Stmt *rows)
{
    Ir *ir = a->e.ir;
    const Stmt *loop = only(rows->u.loop.body), *s;
    int64_t inner, outer;

    if (loop->kind != ST_FOR || loop->u.loop.how != LOOP_VECTOR ||
        !expr_is_zero(loop->u.loop.min) || !expr_is_zero(rows->u.loop.min) ||
        !expr_is_int(loop->u.loop.extent, &inner) ||
        (s = only(loop->u.loop.body))->kind != ST_STORE || s->u.store.buf->scope == MEM_VAR)
        return NULL;
    bool fixed = expr_is_int(rows->u.loop.extent, &outer);
    Side c = {{rows->u.loop.var, loop->u.loop.var}, inner, !s->u.store.guard, ir};
    c.ok = c.ok && lies_on(&c, s->u.store.at[0]);
    expr_visit(s->u.store.value, see_side, &c);
    if (!c.ok)
        return NULL;
    Bounds most = bounds_of(a->e.facts, rows->u.loop.extent);
    bool temps = s->u.store.value->op != EX_LOAD && !expr_is_const(s->u.store.value);
    if (temps && (most.hi > FLAT_MOST || most.hi * inner > FLAT_MOST))
        return NULL; /* its temporaries would be as large as tiles */
    const Expr *n = fixed ? expr_int(ir, inner * outer)
                          : expr_mul(ir, rows->u.loop.extent, expr_int(ir, inner));
    const Stmt *flat = stmt_subst(ir, s, rows->u.loop.var, expr_int(ir, 0));
    return stmt_for(ir, rows->span, LOOP_VECTOR, loop->u.loop.var, expr_int(ir, 0), n, (Hints){0},
                    flat);
}

static bool try_loop(Ascend *a, const Stmt *loop)
{
    Arena *m = a->e.arena;
    Vec v = {.a = a, .v = loop->u.loop.var, .n = loop->u.loop.extent};
    Bounds b = bounds_of(a->e.facts, v.n);
    NodeVec *to = a->to, made = {0};
    int nfree = a->free_temps.n;
    int *kept = NEWN(m, int, nfree + 1);

    if (!expr_is_zero(loop->u.loop.min) || b.hi > ascend_space[IN_UB].bytes || b.hi < 1 ||
        expr_any(v.n, vector_touches, a))
        return false;
    for (int i = 0; i < nfree; i++)
        kept[i] = a->free_temps.at[i];
    v.most = b.hi;
    v.grow = (b.hi + MASK_STEP - 1) / MASK_STEP * MASK_STEP;
    v.count = ascend_text(a, v.n, true);
    map_init(&v.lets, m);
    int places = a->places.n;
    int64_t *sizes = NEWN(m, int64_t, places + 1);
    for (int i = 0; i < places; i++)
        sizes[i] = a->places.at[i].bytes;
    bool guard = b.lo < 1;
    a->to = &made;
    a->e.indent += guard;
    body(&v, loop->u.loop.body);
    a->e.indent -= guard;
    a->to = to;
    if (v.bad) { /* as if nothing had been */
        a->places.n = places;
        for (int i = 0; i < places; i++)
            a->places.at[i].bytes = sizes[i];
        a->free_temps.n = 0;
        for (int i = 0; i < nfree; i++)
            vec_push(m, &a->free_temps, kept[i]);
        return false;
    }
    /* all temporaries are free behind it, those of names too */
    a->free_temps.n = 0;
    for (int i = 0; i < a->places.n; i++)
        if (!a->places.at[i].buf && a->places.at[i].space == IN_UB && a->places.at[i].views)
            vec_push(m, &a->free_temps, i);
    if (guard) {
        Str head;
        str_init(&head, m);
        str_indent(&head, a->e.indent * 4);
        str_printf(&head, "if (%s > 0) {\n", v.count);
        node_add(a, NODE_IF, VECTOR, P_NONE, head.s)->body = made;
        return true;
    }
    for (int i = 0; i < made.n; i++)
        vec_push(m, a->to, made.at[i]);
    return true;
}

typedef struct {
    const Buffer *b;
    int place;
    int64_t pitch;
    const Expr *base;
} Rows;

static bool rows_of(Ascend *a, const Buffer *b, const Expr *at, Var *const vars[2], Rows *r)
{
    int64_t coef[2] = {0, 0};

    r->b = b;
    r->place = b->scope == MEM_VAR ? -1 : place_find(a, b);
    if (r->place < 0 || !affine_of(a->e.ir, at, vars, 2, coef, &r->base) || coef[1] != 1)
        return false;
    r->pitch = coef[0];
    r->base = simplify(a->e.ir, a->e.facts, r->base);
    return true;
}

/* Rows between global memory and UB: one transfer of many blocks. */
static bool move_rows(Ascend *a, const Stmt *rows)
{
    const Stmt *loop = only(rows->u.loop.body), *s;
    const Expr *x;
    Rows to, from;

    if (loop->kind != ST_FOR || loop->u.loop.how != LOOP_VECTOR ||
        (s = only(loop->u.loop.body))->kind != ST_STORE || s->u.store.guard ||
        (x = s->u.store.value)->op != EX_LOAD || x->guarded ||
        x->u.buf->type != s->u.store.buf->type || !expr_is_zero(rows->u.loop.min) ||
        !expr_is_zero(loop->u.loop.min) || expr_uses_var(loop->u.loop.extent, rows->u.loop.var) ||
        !vector_view(x->u.buf->type) || expr_has_load(loop->u.loop.extent) ||
        expr_has_load(rows->u.loop.extent))
        return false;
    Var *const vars[2] = {rows->u.loop.var, loop->u.loop.var};
    DType t = x->u.buf->type;
    if (!rows_of(a, x->u.buf, x->kid[0], vars, &from) ||
        !rows_of(a, s->u.store.buf, s->u.store.at[0], vars, &to))
        return false;
    bool out = a->places.at[to.place].space == IN_GM;
    const Rows *ub = out ? &from : &to, *gm = out ? &to : &from;
    Bounds n = bounds_of(a->e.facts, loop->u.loop.extent),
           m = bounds_of(a->e.facts, rows->u.loop.extent);
    if (a->places.at[ub->place].space != IN_UB || a->places.at[gm->place].space != IN_GM ||
        n.lo < 0 || m.lo < 0 || m.hi > ROWS_MOST || n.hi > ub->pitch || n.hi > gm->pitch ||
        ub->pitch * bytes_of(t) % BLOCK_BYTES || !ascend_aligned(a, ub->base, t) ||
        (!out && !ascend_aligned(a, loop->u.loop.extent, t)))
        return false;
    Vec v = {.a = a};
    const char *count = ascend_text(a, rows->u.loop.extent, true);
    const char *bytes = arena_printf(a->e.arena, "(uint32_t)(%s) * %d",
                                     ascend_text(a, loop->u.loop.extent, true), bytes_of(t));
    const char *gap =
        arena_printf(a->e.arena, "%lldu - %s", (long long)gm->pitch * bytes_of(t), bytes);
    const char *blocks = arena_printf(a->e.arena, "%lldu - (%s + 31) / 32",
                                      (long long)ub->pitch * bytes_of(t) / BLOCK_BYTES, bytes);
    const char *ends = out ? ""
                           : arena_printf(a->e.arena,
                                          ", DataCopyPadExtParams<%s>{false, 0, 0, "
                                          "%s}",
                                          ascend_type(t), dtype_is_float(t) ? "0.0f" : "0");
    Node *x2 = vector_op(&v, out ? P_MTE3 : P_MTE2,
                         "DataCopyPad(%s, %s, DataCopyExtParams{(uint16_t)(%s), "
                         "%s, %s, %s, 0}%s)",
                         vector_at(&v, buffer_name(&a->e, to.b), to.base),
                         vector_at(&v, buffer_name(&a->e, from.b), from.base), count, bytes,
                         out ? blocks : gap, out ? gap : blocks, ends);
    node_touch(a, x2, from.place, false);
    node_touch(a, x2, to.place, true);
    for (int i = 0; out && i < a->loops.n; i++)
        if (!expr_uses_var(to.base, a->loops.at[i]))
            x2->touch.at[x2->touch.n - 1].again = true;
    return true;
}

bool vector_loop(Ascend *a, const Stmt *loop)
{
    const Stmt *s = only(loop->u.loop.body);

    if (loop->u.loop.how == LOOP_VECTOR ||
        (s->kind == ST_STORE && s->u.store.buf->scope == MEM_VAR)) /* a fold */
        return try_loop(a, loop);
    const Stmt *flat = flatten(a, loop);
    return (flat && try_loop(a, flat)) || move_rows(a, loop);
}
