/* builtin_loop.c -- loop frames and persistent tile schedulers. */
#include "front/builtin.h"

static Frame *loop_frame(BuiltinCall *c, LoopHow how)
{
    if (how != LOOP_SERIAL && how != LOOP_UNROLL)
        call_kernel(c); /* the host walks plain loops only */
    Frame *f = NEW(c->ev->arena, Frame);
    f->kind = FRAME_LOOP;
    f->how = how;
    f->span = c->span;
    return f;
}

static Value frame_value(Frame *f)
{
    return (Value){.kind = V_FRAME, .u.frame = f};
}

static const Expr *loop_bound(BuiltinCall *c, Span at, const Value *v, const char *what)
{
    const Expr *e = to_expr(c->ev, at, v, what);
    if (!dtype_is_int(e->type) || e->lanes != 1)
        diag_fail(c->ev->diag, at, "%s must be an integer, not %s [argument-type]", what,
                  dtype_name(e->type));
    return widened(c->ev->ir, e);
}

/* Arguments `start, stop`: one of them means from 0.  extent is the number of iterations. */
static void one_range(BuiltinCall *c, Frame *f)
{
    Ir *ir = c->ev->ir;
    const char *what = arg_given(c, 1)
                           ? call_what(c, 0)
                           : arena_printf(c->ev->arena, "%s: the extent", call_title(c));
    const Expr *a = loop_bound(c, c->arg_span[0], &c->arg[0], what);
    f->n = 1;
    if (!arg_given(c, 1)) {
        f->min[0] = expr_const(ir, a->type, 0);
        f->extent[0] = a;
        return;
    }
    f->min[0] = a;
    f->extent[0] = expr_sub(ir, loop_bound(c, c->arg_span[1], &c->arg[1], call_what(c, 1)), a);
}

/* A step other than 1 counts iterations: ceil(span / step), of both negated if it is negative. */
static void with_step(BuiltinCall *c, Frame *f, int i)
{
    Ir *ir = c->ev->ir;
    int64_t k;
    if (!arg_given(c, i))
        return;
    const Expr *step = loop_bound(c, c->arg_span[i], &c->arg[i], call_what(c, i));
    if (!expr_is_int(step, &k)) {
        f->step = step;
        f->extent[0] = expr_ceildiv(ir, f->extent[0], step);
        return;
    }
    if (k == 0 || k == INT64_MIN)
        arg_fail(c, i, "must not be %lld [argument-type]", (long long)k);
    if (k == 1)
        return;
    const Expr *span = k > 0 ? f->extent[0] : expr_unary(ir, EX_NEG, f->extent[0]);
    f->step = step;
    f->extent[0] = expr_ceildiv(ir, span, expr_const(ir, span->type, k > 0 ? k : -k));
}

static void many_extents(BuiltinCall *c, Frame *f)
{
    if (c->nrest < 1 || c->nrest > RANK_MOST)
        call_fail(c, "takes 1 to %d extents, not %d [argument-count]", RANK_MOST, c->nrest);
    f->n = c->nrest;
    for (int i = 0; i < c->nrest; i++) {
        int64_t k;
        const char *what = arena_printf(c->ev->arena, "%s: extent %d", call_title(c), i + 1);
        f->extent[i] = loop_bound(c, c->span, &c->rest[i], what);
        f->min[i] = expr_const(c->ev->ir, f->extent[i]->type, 0);
        if (expr_is_int(f->extent[i], &k) && k < 0)
            call_fail(c, "extent %d is negative: %lld [loop-extent]", i + 1, (long long)k);
    }
}

static void layout_hint(BuiltinCall *c, Frame *f, int i)
{
    if (!arg_given(c, i))
        return;
    const Layout *l = arg_layout(c, i);
    if (!layout_is_fragment(l))
        arg_fail(c, i, "must be a Fragment [argument-type]");
    if (l->rank != f->n)
        arg_fail(c, i, "has %d dimensions, the loop has %d [argument-type]", l->rank, f->n);
    hints_add(c->ev, &f->hints, (Hint){.name = "loop_layout", .layout = l});
}

Value do_parallel(BuiltinCall *c)
{
    Frame *f = loop_frame(c, LOOP_PARALLEL);
    many_extents(c, f);
    width_hint(c, &f->hints, 1);
    layout_hint(c, f, 2);
    if (arg_given(c, 3))
        hints_int(c->ev, &f->hints, "prefer_async", arg_bool(c, 3));
    notes_dict(c, 4, &f->hints);
    return frame_value(f);
}

static void list_hint(BuiltinCall *c, Frame *f, int i, const char *name, int *n)
{
    const Value *v = &c->arg[i];
    if (!value_is_seq(v))
        arg_fail(c, i, "must be a list of ints, not %s [argument-type]", value_kind_name(v));
    int *list = NEWN(c->ev->arena, int, v->u.seq->n + 1);
    for (int k = 0; k < v->u.seq->n; k++)
        list[k] = (int)to_int(c->ev, c->arg_span[i], &v->u.seq->at[k], call_what(c, i));
    *n = v->u.seq->n;
    hints_add(c->ev, &f->hints, (Hint){.name = name, .list = list, .nlist = *n});
}

/* Which copies run ahead and how far is obeyed; all else of a schedule is the compiler's. */
static void ignore_order(BuiltinCall *c)
{
    static const char what[] = "the order of T.Pipelined";
    const Seq *order = arg_given(c, 3) && value_is_seq(&c->arg[3]) ? c->arg[3].u.seq : NULL;
    int64_t last = -1;
    int moved = -1;
    for (int i = 0; order && i < order->n; i++) {
        int64_t at = to_int(c->ev, c->arg_span[3], &order->at[i], call_what(c, 3));
        moved = at >= 0 && at < last ? 3 : moved;
        last = MAX(last, at);
    }
    moved = arg_given(c, 5) ? 5 : arg_given(c, 6) ? 6 : moved;
    if (moved >= 0)
        diag_ignored(c->ev->diag, c->arg_span[moved], what,
                     "statements stay as they are written, and what waits for what is worked out; "
                     "num_stages and stage say how far copies run ahead [ignored]");
}

/* num_stages=0 without a schedule of the user's own is an ordinary loop. */
Value do_pipelined(BuiltinCall *c)
{
    Frame *f = loop_frame(c, LOOP_PIPELINED);
    one_range(c, f);
    const Value *s = &c->arg[2];
    if (s->kind != V_INT && s->kind != V_NONE)
        arg_fail(c, 2, "must be an int, not %s [argument-type]", value_kind_name(s));
    int64_t stages = s->kind == V_INT ? s->u.i : 0;
    if (stages < 0)
        arg_fail(c, 2, "must not be negative: %lld [pipeline-stages]", (long long)stages);
    hints_int(c->ev, &f->hints, "num_stages", stages);
    if (arg_given(c, 3) != arg_given(c, 4))
        call_fail(c, "order and stage go together [pipeline-order]");
    ignore_order(c);
    /* A schedule of groups of statements is the original's; here num_stages says enough. */
    if (arg_given(c, 3) && !arg_given(c, 6)) {
        int norder, nstage;
        list_hint(c, f, 3, "order", &norder);
        list_hint(c, f, 4, "stage", &nstage);
        if (norder != nstage)
            call_fail(c, "order has %d entries and stage %d [pipeline-order]", norder, nstage);
    } else if (stages == 0) {
        f->how = LOOP_SERIAL;
        f->hints = (Hints){0};
    }
    notes_dict(c, 7, &f->hints);
    return frame_value(f);
}

Value do_serial(BuiltinCall *c)
{
    Frame *f = loop_frame(c, LOOP_SERIAL);
    one_range(c, f);
    with_step(c, f, 2);
    notes_dict(c, 3, &f->hints);
    return frame_value(f);
}

Value do_unroll(BuiltinCall *c)
{
    Frame *f = loop_frame(c, LOOP_UNROLL);
    one_range(c, f);
    with_step(c, f, 2);
    bool explicit_ = arg_bool(c, 3);
    if (explicit_ && arg_given(c, 4))
        arg_fail(c, 4, "and explicit=True exclude each other [argument-type]");
    if (explicit_)
        hints_int(c->ev, &f->hints, "explicit", 1);
    if (arg_given(c, 4))
        hints_int(c->ev, &f->hints, "unroll_factor", arg_int(c, 4));
    notes_dict(c, 5, &f->hints);
    return frame_value(f);
}

Value do_vectorized(BuiltinCall *c)
{
    Frame *f = loop_frame(c, LOOP_VECTOR);
    one_range(c, f);
    notes_dict(c, 2, &f->hints);
    return frame_value(f);
}

Value do_raw_parallel(BuiltinCall *c)
{
    Frame *f = loop_frame(c, LOOP_PARALLEL);
    one_range(c, f);
    notes_dict(c, 2, &f->hints);
    return frame_value(f);
}

Value do_grid(BuiltinCall *c)
{
    Frame *f = loop_frame(c, LOOP_SERIAL);
    many_extents(c, f);
    return frame_value(f);
}

Value do_persistent(BuiltinCall *c)
{
    call_kernel(c);
    if (!value_is_seq(&c->arg[0]) || c->arg[0].u.seq->n == 0)
        arg_fail(c, 0, "must be a list of extents, not %s [argument-type]",
                 value_kind_name(&c->arg[0]));
    for (int i = 0; i < c->arg[0].u.seq->n; i++)
        loop_bound(c, c->arg_span[0], &c->arg[0].u.seq->at[i], call_what(c, 0));
    loop_bound(c, c->arg_span[1], &c->arg[1], call_what(c, 1));
    loop_bound(c, c->arg_span[2], &c->arg[2], call_what(c, 2));
    if (arg_int(c, 3) <= 0)
        arg_fail(c, 3, "must be positive [argument-type]");
    Value *domain = NEWN(c->ev->arena, Value, 4);
    memcpy(domain, c->arg, sizeof *domain * 4);
    domain[0].kind = V_TUPLE;
    int64_t stages = arg_given(c, 4) ? arg_int(c, 4) : 0;
    if (stages < 0)
        arg_fail(c, 4, "must not be negative: %lld [pipeline-stages]", (long long)stages);
    Frame *f = loop_frame(c, stages ? LOOP_PIPELINED : LOOP_SERIAL);
    f->domain = domain;
    if (stages)
        hints_int(c->ev, &f->hints, "num_stages", stages);
    notes_dict(c, 5, &f->hints);
    return frame_value(f);
}

Value do_loop_break(BuiltinCall *c)
{
    call_kernel(c);
    return call_emit(c, stmt_simple(c->ev->ir, c->span, ST_BREAK));
}

static Value cond_frame(BuiltinCall *c, FrameKind kind)
{
    Frame *f = NEW(c->ev->arena, Frame);
    trace_need(c->ev, c->span, call_title(c));
    f->kind = kind;
    f->span = c->span;
    if (kind == FRAME_IF || kind == FRAME_WHILE || kind == FRAME_ASSERT)
        f->cond = arg_bool_expr(c, 0);
    if (kind == FRAME_ASSERT)
        f->text = arg_text(c, 1);
    return frame_value(f);
}

Value do_if(BuiltinCall *c) { return cond_frame(c, FRAME_IF); }
Value do_while(BuiltinCall *c) { return cond_frame(c, FRAME_WHILE); }
Value do_then(BuiltinCall *c) { return cond_frame(c, FRAME_THEN); }
Value do_else(BuiltinCall *c) { return cond_frame(c, FRAME_ELSE); }
Value do_assert_frame(BuiltinCall *c) { return cond_frame(c, FRAME_ASSERT); }

/* ---- T.PersistentTileScheduler ------------------------------------------------------------------
 *
 * An object with its numbers and, when stateful, four variables of the kernel.  The grid of tiles
 * is cut into panels `swizzle` wide along the slow axis; a panel is walked before the next. */

void object_set(Eval *ev, Object *o, const char *name, Value v)
{
    Value *copy = NEW(ev->arena, Value);
    *copy = v;
    map_set(&o->fields, ir_name(ev->ir, name), copy);
}

static Value field_get(BuiltinCall *c, const char *name)
{
    const Value *self = &c->arg[0];
    const Value *v = self->kind == V_OBJECT ? map_get(&self->u.object->fields, name) : NULL;
    if (!v)
        call_fail(c, "needs a stateful T.PersistentTileScheduler [argument-type]");
    return *v;
}

static Value state_var(BuiltinCall *c, const char *prefix, const char *name)
{
    Ir *ir = c->ev->ir;
    Buffer *b = trace_buffer(c->ev, c->span, DT_I32, MEM_VAR, 0, NULL);
    b->name = ir_name(ir, prefix ? arena_printf(ir->arena, "%s_%s", prefix, name) : name);
    call_emit(c, stmt_store(ir, c->span, b, NULL, 0, expr_zero(ir, DT_I32)));
    return value_buffer(b);
}

Value do_tile_scheduler(BuiltinCall *c)
{
    Eval *ev = c->ev;
    Ir *ir = ev->ir;
    int64_t swizzle = arg_int(c, 3), cluster = arg_int(c, 5);
    call_kernel(c);
    if (swizzle <= 0 || cluster <= 0)
        arg_fail(c, swizzle <= 0 ? 3 : 5, "must be positive [argument-type]");
    Object *o = NEW(ev->arena, Object);
    o->name = "PersistentTileScheduler";
    map_init_text(&o->fields, ev->arena);
    Value self = {.kind = V_OBJECT, .u.object = o};
    const Expr *m = expr_ceildiv(ir, arg_index(c, 0), expr_int(ir, cluster)), *n = arg_index(c, 1);
    bool column = arg_bool(c, 4);
    object_set(ev, o, "num_workers",
              arg_given(c, 2) ? value_expr(ev, arg_index(c, 2))
                              : value_int(MAX(machine_units(c) / (int)cluster, 1)));
    object_set(ev, o, "swizzle_size", value_int(swizzle));
    object_set(ev, o, "cluster_size", value_int(cluster));
    object_set(ev, o, "column_major", value_bool(column));
    object_set(ev, o, "total_tiles", value_expr(ev, expr_mul(ir, m, n)));
    object_set(ev, o, "fast_tiles", value_expr(ev, column ? m : n));
    object_set(ev, o, "slow_tiles", value_expr(ev, column ? n : m));
    object_set(ev, o, "coord", method_of(ev, &self, "PersistentTileScheduler.coord"));
    if (arg_bool(c, 6)) {
        static const char *const vars[] = {"m_idx", "n_idx", "linear_idx", "current_iter"};
        for (int i = 0; i < COUNT(vars); i++)
            object_set(ev, o, vars[i], state_var(c, arg_text(c, 7), vars[i]));
        object_set(ev, o, "init", method_of(ev, &self, "PersistentTileScheduler.init"));
        object_set(ev, o, "next_tile", method_of(ev, &self, "PersistentTileScheduler.next_tile"));
        object_set(ev, o, "valid", method_of(ev, &self, "PersistentTileScheduler.valid"));
    }
    return self;
}

static const Expr *field_expr(BuiltinCall *c, const char *name)
{
    Value v = field_get(c, name);
    return to_expr(c->ev, c->span, &v, name);
}

/* (m, n) of a tile number; the last panel may be narrower, and never of width 0. */
static void tile_coord(BuiltinCall *c, const Expr *tile, const Expr **m, const Expr **n)
{
    Ir *ir = c->ev->ir;
    const Expr *width = field_expr(c, "swizzle_size");
    const Expr *panel = expr_mul(ir, field_expr(c, "fast_tiles"), width);
    const Expr *group = expr_floordiv(ir, tile, panel);
    const Expr *base = expr_mul(ir, group, width);
    const Expr *left = expr_sub(ir, field_expr(c, "slow_tiles"), base);
    const Expr *wide = expr_max(ir, expr_int(ir, 1), expr_min(ir, width, left));
    const Expr *within = expr_sub(ir, tile, expr_mul(ir, group, panel));
    const Expr *fast = expr_floordiv(ir, within, wide);
    const Expr *slow = expr_add(ir, base, expr_floormod(ir, within, wide));
    bool column = field_get(c, "column_major").u.i != 0;
    *m = column ? fast : slow;
    *n = column ? slow : fast;
}

static void set_var(BuiltinCall *c, const char *name, const Expr *e)
{
    Ir *ir = c->ev->ir;
    Value v = field_get(c, name);
    call_emit(c, stmt_store(ir, c->span, v.u.buf, NULL, 0, expr_cast(ir, DT_I32, e)));
}

static void move_to(BuiltinCall *c, const Expr *tile)
{
    const Expr *m, *n;
    set_var(c, "linear_idx", tile);
    tile_coord(c, field_expr(c, "linear_idx"), &m, &n);
    set_var(c, "m_idx", m);
    set_var(c, "n_idx", n);
}

Value do_tile_scheduler_init(BuiltinCall *c)
{
    set_var(c, "current_iter", expr_int(c->ev->ir, 0));
    move_to(c, arg_index(c, 1));
    return value_none();
}

Value do_tile_scheduler_next(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    set_var(c, "current_iter", expr_add(ir, field_expr(c, "current_iter"), expr_int(ir, 1)));
    move_to(c, expr_add(ir, field_expr(c, "linear_idx"), field_expr(c, "num_workers")));
    return value_none();
}

Value do_tile_scheduler_valid(BuiltinCall *c)
{
    return value_expr(c->ev, expr_lt(c->ev->ir, field_expr(c, "linear_idx"),
                                     field_expr(c, "total_tiles")));
}

Value do_tile_scheduler_coord(BuiltinCall *c)
{
    const Expr *m, *n;
    tile_coord(c, arg_index(c, 1), &m, &n);
    Value v[2] = {value_expr(c->ev, m), value_expr(c->ev, n)};
    return value_tuple(c->ev, v, 2);
}
