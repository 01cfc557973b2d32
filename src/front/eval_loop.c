/* eval_loop.c -- if, for, while and with: decided at compile time, or traced into the kernel.
 *
 * Whatever is traced opens a frame: names bound inside die with it. */
#include "front/eval.h"

/* ---- frames ---------------------------------------------------------------------------------- */

static int frame_open(Eval *ev)
{
    int id = ++ev->nframe;
    vec_push(ev->arena, &ev->trace->frames, id);
    return id;
}

static void frame_close(Eval *ev)
{
    ev->trace->frames.n--;
}

bool frame_is_open(const Trace *t, int id)
{
    for (const Trace *c = t; c; c = c->outer)
        for (int i = c->frames.n - 1; i >= 0; i--)
            if (c->frames.at[i] == id)
                return true;
    return false;
}

/* Where the innermost loop stands, kept while another is run. */
typedef struct {
    char loop;
    int control;
} LoopMark;

static LoopMark loop_enter(Eval *ev, char kind)
{
    LoopMark m = {ev->loop, ev->loop_control};
    ev->loop = kind;
    ev->loop_control = ev->trace ? ev->trace->depth_control : 0;
    return m;
}

static void loop_leave(Eval *ev, LoopMark m)
{
    ev->loop = m.loop;
    ev->loop_control = m.control;
}

/* Trace a body into a statement of its own. */
static const Stmt *traced_body(Eval *ev, Scope *s, AstStmt *const *body, int n, Span at,
                               RunResult *left, Value *result)
{
    Builder inner, *outer = ev->trace->build;
    build_open(&inner, ev->ir, outer);
    ev->trace->build = &inner;
    *left = eval_block(ev, s, body, n, result);
    ev->trace->build = outer;
    return build_close(&inner, at);
}

/* ---- if -------------------------------------------------------------------------------------- */

static const Stmt *branch(Eval *ev, Scope *s, AstStmt *const *body, int n, Span at, Value *result)
{
    RunResult left;
    frame_open(ev);
    ev->trace->depth_control++;
    const Stmt *st = traced_body(ev, s, body, n, at, &left, result);
    ev->trace->depth_control--;
    frame_close(ev);
    return st;
}

RunResult eval_if(Eval *ev, Scope *s, const AstStmt *st, Value *result)
{
    Value c = eval_expr(ev, s, st->value);
    if (c.kind == V_OPAQUE && s->is_module && !ev->trace)
        return RUN_NEXT; /* the host's own business */
    bool runtime = ev->trace && (is_runtime(&c) || c.kind == V_REGION);
    if (!runtime) {
        if (value_truth(ev, st->value->span, &c))
            return eval_block(ev, s, st->body, st->nbody, result);
        return eval_block(ev, s, st->orelse, st->norelse, result);
    }
    const Expr *cond = to_condition(ev, st->value->span, &c);
    int64_t known;
    if (expr_is_int(cond, &known)) {
        if (known)
            return eval_block(ev, s, st->body, st->nbody, result);
        return eval_block(ev, s, st->orelse, st->norelse, result);
    }
    const Stmt *then = branch(ev, s, st->body, st->nbody, st->span, result);
    const Stmt *orelse =
        st->norelse ? branch(ev, s, st->orelse, st->norelse, st->span, result) : NULL;
    trace_emit(ev, stmt_if(ev->ir, st->span, cond, then, orelse));
    return RUN_NEXT;
}

/* ---- while ----------------------------------------------------------------------------------- */

static RunResult while_python(Eval *ev, Scope *s, const AstStmt *st, const Value *first,
                              Value *result)
{
    LoopMark m = loop_enter(ev, 'c');
    Value c = *first;
    RunResult r = RUN_NEXT;
    while (value_truth(ev, st->value->span, &c)) {
        eval_work(ev, st->span, 1);
        r = eval_block(ev, s, st->body, st->nbody, result);
        if (r == RUN_BREAK || r == RUN_RETURN)
            break;
        c = eval_expr(ev, s, st->value);
    }
    loop_leave(ev, m);
    if (r == RUN_RETURN)
        return r;
    return r == RUN_BREAK ? RUN_NEXT : eval_block(ev, s, st->orelse, st->norelse, result);
}

static void refuse_else(Eval *ev, const AstStmt *st, const char *word)
{
    if (st->norelse)
        diag_fail(ev->diag, st->orelse[0]->span, "'else' after '%s' has no meaning in a kernel "
                  "[loop-else]", word);
}

static bool is_run_time(Eval *ev, const Value *v)
{
    return ev->trace && (is_runtime(v) || v->kind == V_REGION || v->kind == V_BUFFER);
}

/* What the condition has to do first (T.atomic_load, T.any_of) is done at each iteration:
 * while True: …; if not cond: break; body. */
static void emit_while(Eval *ev, Span at, const Stmt *before, const Expr *cond, const Stmt *body)
{
    Ir *ir = ev->ir;
    if (stmt_is_empty(before)) {
        trace_emit(ev, stmt_while(ir, at, cond, body));
        return;
    }
    const Stmt *leave =
        stmt_if(ir, at, expr_unary(ir, EX_NOT, cond), stmt_simple(ir, at, ST_BREAK), NULL);
    const Stmt *all = stmt_seq(ir, before, stmt_seq(ir, leave, body));
    trace_emit(ev, stmt_while(ir, at, expr_bool(ir, true), all));
}

/* The condition, and apart from it what evaluating it emitted. */
static Value while_condition(Eval *ev, Scope *s, const AstStmt *st, const Stmt **before)
{
    Builder b, *outer;
    *before = NULL;
    if (!ev->trace)
        return eval_expr(ev, s, st->value);
    outer = ev->trace->build;
    build_open(&b, ev->ir, outer);
    ev->trace->build = &b;
    Value c = eval_expr(ev, s, st->value);
    ev->trace->build = outer;
    if (b.list.n)
        *before = build_close(&b, st->span);
    return c;
}

RunResult eval_while(Eval *ev, Scope *s, const AstStmt *st, Value *result)
{
    const Stmt *before;
    Value c = while_condition(ev, s, st, &before);
    if (c.kind == V_OPAQUE && s->is_module && !ev->trace)
        return RUN_NEXT;
    if (!is_run_time(ev, &c) && scope_traces(ev, s) && ev->trace->kernel) {
        refuse_else(ev, st, "while");
        if (value_truth(ev, st->value->span, &c))
            diag_fail(ev->diag, st->value->span, "this condition is true at compile time: the loop "
                      "would never end [infinite-loop]");
        diag_warn(ev->diag, st->value->span, "this condition is false at compile time: the loop is "
                  "left out [while-false]");
        return RUN_NEXT;
    }
    if (!is_run_time(ev, &c)) {
        if (before)
            trace_emit(ev, before);
        return while_python(ev, s, st, &c, result);
    }
    refuse_else(ev, st, "while");
    const Expr *cond = to_condition(ev, st->value->span, &c);
    RunResult left;
    LoopMark m = loop_enter(ev, 'r');
    frame_open(ev);
    ev->trace->depth_control++;
    const Stmt *body = traced_body(ev, s, st->body, st->nbody, st->span, &left, result);
    ev->trace->depth_control--;
    frame_close(ev);
    loop_leave(ev, m);
    emit_while(ev, st->span, before, cond, body);
    return RUN_NEXT;
}

/* ---- for over a frame ------------------------------------------------------------------------ */

static const char *const loop_names[RANK_MOST] = {"i", "j", "k", "l", "m", "n", "o", "p"};

/* What the i-th of n variables is called: its target, or a name out of `fallback`. */
static const char *target_name(const Ast *target, int i, int n, const char *const *fallback)
{
    const char *name = NULL;
    if (target && target->kind == AST_NAME && n == 1)
        name = target->name;
    if (target && (target->kind == AST_TUPLE || target->kind == AST_LIST) && i < target->nkid &&
        target->kid[i]->kind == AST_NAME)
        name = target->kid[i]->name;
    return name && strcmp(name, "_") ? name : fallback[i];
}

static DType loop_type(const Expr *min, const Expr *extent)
{
    return min->type == DT_I64 || extent->type == DT_I64 ? DT_I64 : DT_I32;
}

typedef struct {
    Var *var[RANK_MOST];
    const Expr *min[RANK_MOST], *extent[RANK_MOST];
    Value user; /* what the target is bound to */
} LoopVars;

/* Loop variables named after the targets.  A stepped loop counts iterations; the user's variable is
 * a let at the head of the body, made by the caller. */
static void make_loop_vars(Eval *ev, const Frame *f, const Ast *target, LoopVars *l)
{
    Value each[RANK_MOST];
    for (int i = 0; i < f->n; i++) {
        const char *name = target_name(target, i, f->n, loop_names);
        DType t = loop_type(f->min[i], f->extent[i]);
        Span at = target ? target->span : f->span;
        if (f->step)
            name = arena_printf(ev->arena, "%s_round", name);
        l->var[i] = var_new(ev->ir, name, t, at);
        l->extent[i] = expr_cast(ev->ir, t, simplify(ev->ir, facts_new(ev->ir), f->extent[i]));
        l->min[i] = f->step ? expr_const(ev->ir, t, 0) : expr_cast(ev->ir, t, f->min[i]);
        each[i] = value_expr(ev, expr_var(ev->ir, l->var[i]));
    }
    bool many = f->n > 1 || (target && (target->kind == AST_TUPLE || target->kind == AST_LIST));
    l->user = many ? value_seq(ev, V_TUPLE, each, f->n) : each[0];
}

static void bind_stepped(Eval *ev, const Frame *f, const Ast *target, LoopVars *l)
{
    const Expr *iter = expr_var(ev->ir, l->var[0]);
    const Expr *at = expr_add(ev->ir, f->min[0], expr_mul(ev->ir, iter, f->step));
    Value v = value_expr(ev, trace_let(ev, f->span, target_name(target, 0, 1, loop_names), at));
    l->user = l->user.kind == V_TUPLE ? value_seq(ev, V_TUPLE, &v, 1) : v;
}

static char loop_kind(LoopHow how)
{
    return how == LOOP_SERIAL || how == LOOP_UNROLL ? 'r' : 'p';
}

static void check_targets(Eval *ev, const Frame *f, const Ast *target)
{
    if (target && (target->kind == AST_TUPLE || target->kind == AST_LIST) && target->nkid != f->n)
        diag_fail(ev->diag, target->span, "this loop has %d variable%s and %d name%s "
                  "[unpack-count]", f->n, f->n == 1 ? "" : "s", target->nkid,
                  target->nkid == 1 ? "" : "s");
}

/* Its body is looked at all the same. */
static bool never_runs(const LoopVars *l, int n)
{
    bool never = false;
    for (int i = 0; i < n; i++)
        never |= expr_is_zero(l->extent[i]);
    return never;
}

static void emit_loop(Eval *ev, Scope *s, const Frame *f, const Ast *target, AstStmt *const *body,
                      int n, Span at, Value *result)
{
    LoopVars l;
    RunResult left;
    check_targets(ev, f, target);
    make_loop_vars(ev, f, target, &l);
    LoopMark m = loop_enter(ev, loop_kind(f->how));
    frame_open(ev);
    ev->trace->depth_control++;
    Builder inner, *outer = ev->trace->build;
    build_open(&inner, ev->ir, outer);
    ev->trace->build = &inner;
    if (f->step)
        bind_stepped(ev, f, target, &l);
    if (target)
        bind_loop_var(ev, s, target, &l.user);
    left = eval_block(ev, s, body, n, result);
    (void)left;
    ev->trace->build = outer;
    const Stmt *st = build_close(&inner, at);
    ev->trace->depth_control--;
    frame_close(ev);
    loop_leave(ev, m);
    for (int i = f->n - 1; i >= 0; i--)
        st = stmt_for(ev->ir, at, f->how, l.var[i], l.min[i], l.extent[i],
                      i == 0 ? f->hints : (Hints){0}, st);
    if (!never_runs(&l, f->n))
        trace_emit(ev, st);
}

/* T.thread_binding: the variable stands for the thread; no loop. */
static void emit_bound(Eval *ev, Scope *s, const Frame *f, const Ast *target, AstStmt *const *body,
                       int n, Span at, Value *result)
{
    RunResult left;
    LoopMark m = loop_enter(ev, 'p');
    frame_open(ev);
    ev->trace->depth_control++;
    Value v = value_expr(ev, f->bind);
    if (target)
        bind_loop_var(ev, s, target, &v);
    const Stmt *st = traced_body(ev, s, body, n, at, &left, result);
    ev->trace->depth_control--;
    frame_close(ev);
    loop_leave(ev, m);
    trace_emit(ev, f->cond ? stmt_if(ev->ir, at, f->cond, st, NULL) : st);
}

/* ---- T.Persistent: waves of blocks over a domain of tiles ------------------------------------ */

/* The last axis is walked in groups: flat -> (group of the last axis, other axes, within the
 * group). */
static int persistent_coords(Eval *ev, const Value *domain, const Expr *flat, const Expr **out,
                             const Expr **total)
{
    Ir *ir = ev->ir;
    const Seq *dims = domain[0].u.seq;
    int n = dims->n;
    const Expr *extent[RANK_MOST + 1], *coord[RANK_MOST + 1] = {0}, *size[RANK_MOST] = {0};
    BUG(n < 1 || n > RANK_MOST, "T.Persistent of %d extents", n);
    for (int i = 0; i < n; i++)
        size[i] = to_expr(ev, NO_SPAN, &dims->at[i], "T.Persistent");
    const Expr *group = expr_min(ir, to_expr(ev, NO_SPAN, &domain[3], "T.Persistent"), size[n - 1]);
    extent[0] = expr_ceildiv(ir, size[n - 1], group);
    for (int i = 0; i < n - 1; i++)
        extent[i + 1] = size[i];
    extent[n] = group;
    *total = expr_int(ir, 1);
    for (int i = n; i >= 0; i--) {
        coord[i] = i ? expr_floormod(ir, flat, extent[i]) : flat;
        flat = i ? expr_floordiv(ir, flat, extent[i]) : flat;
        *total = expr_mul(ir, *total, extent[i]);
    }
    for (int i = 0; i < n - 1; i++)
        out[i] = coord[i + 1];
    out[n - 1] = expr_add(ir, expr_mul(ir, coord[0], group), coord[n]);
    return n;
}

static void emit_persistent(Eval *ev, Scope *s, const Frame *f, const Ast *target,
                            AstStmt *const *body, int nbody, Span at, Value *result)
{
    Ir *ir = ev->ir;
    const Seq *dims = f->domain[0].u.seq;
    const Expr *coord[RANK_MOST], *total;
    if (dims->n < 1 || dims->n > RANK_MOST)
        diag_fail(ev->diag, f->span, "T.Persistent takes 1 to %d extents [argument-count]",
                  RANK_MOST);
    const Expr *wave = to_expr(ev, f->span, &f->domain[1], "T.Persistent: 'wave_size'");
    const Expr *index = to_expr(ev, f->span, &f->domain[2], "T.Persistent: 'index'");
    Var *w = var_new(ir, "wave", DT_I32, at);
    const Expr *flat = expr_add(ir, expr_mul(ir, expr_var(ir, w), wave), index);
    int n = persistent_coords(ev, f->domain, flat, coord, &total);
    const Expr *last = to_expr(ev, f->span, &dims->at[n - 1], "T.Persistent");

    LoopMark m = loop_enter(ev, 'r');
    frame_open(ev);
    ev->trace->depth_control += 2;
    Builder loop, *outer = ev->trace->build;
    build_open(&loop, ir, outer);
    ev->trace->build = &loop;
    Value each[RANK_MOST];
    for (int i = 0; i < n; i++)
        each[i] =
            value_expr(ev, trace_let(ev, at, target_name(target, i, n, loop_names), coord[i]));
    Value user = n > 1 || target->kind == AST_TUPLE ? value_seq(ev, V_TUPLE, each, n) : each[0];
    bind_loop_var(ev, s, target, &user);
    RunResult left;
    const Stmt *inside = traced_body(ev, s, body, nbody, at, &left, result);
    const Expr *valid = expr_and(ir, expr_lt(ir, flat, total),
                                 expr_lt(ir, to_expr(ev, at, &each[n - 1], "T.Persistent"), last));
    build_add(&loop, stmt_if(ir, at, valid, inside, NULL));
    ev->trace->build = outer;
    const Stmt *st = build_close(&loop, at);
    ev->trace->depth_control -= 2;
    frame_close(ev);
    loop_leave(ev, m);
    trace_emit(ev, stmt_for(ir, at, f->how, w, expr_int(ir, 0), expr_ceildiv(ir, total, wave),
                            f->hints, st));
}

static void run_frame_loop(Eval *ev, Scope *s, const Frame *f, const Ast *target,
                           AstStmt *const *body, int n, Span at, Value *result)
{
    trace_need(ev, f->span, "this loop");
    if (f->domain) {
        if (!target)
            diag_fail(ev->diag, f->span, "T.Persistent needs a 'for' [for-iterable]");
        emit_persistent(ev, s, f, target, body, n, at, result);
    } else if (f->bind) {
        emit_bound(ev, s, f, target, body, n, at, result);
    } else {
        emit_loop(ev, s, f, target, body, n, at, result);
    }
}

/* ---- for ------------------------------------------------------------------------------------- */

/* What Python walks while the kernel is traced. */
static bool is_walked(const Value *v)
{
    return v->kind == V_LIST || v->kind == V_TUPLE || v->kind == V_DICT || v->kind == V_SET ||
           v->kind == V_RANGE || v->kind == V_STR || v->kind == V_CLASS || v->kind == V_FOREIGN;
}

static Frame *range_frame(Eval *ev, Span at, const Value *range)
{
    Frame *f = NEW(ev->arena, Frame);
    const Value *part = range->u.seq->at;
    f->kind = FRAME_LOOP;
    f->how = LOOP_SERIAL;
    f->n = 1;
    f->span = at;
    f->min[0] = expr_int(ev->ir, part[0].u.i);
    f->extent[0] = expr_int(ev->ir, range_length(range));
    f->step = part[2].u.i == 1 ? NULL : expr_int(ev->ir, part[2].u.i);
    return f;
}

/* The body is traced once per item. */
static RunResult for_python(Eval *ev, Scope *s, const AstStmt *st, const Value *iter, Value *result)
{
    Value *item;
    RunResult r = RUN_NEXT;
    int n = value_items(ev, st->value->span, iter, &item, "'for'");
    LoopMark m = loop_enter(ev, 'c');
    for (int i = 0; i < n; i++) {
        eval_work(ev, st->span, 1);
        assign(ev, s, st->targets[0], &item[i]);
        r = eval_block(ev, s, st->body, st->nbody, result);
        if (r == RUN_BREAK || r == RUN_RETURN)
            break;
    }
    loop_leave(ev, m);
    if (r == RUN_RETURN)
        return r;
    return r == RUN_BREAK ? RUN_NEXT : eval_block(ev, s, st->orelse, st->norelse, result);
}

RunResult eval_for(Eval *ev, Scope *s, const AstStmt *st, Value *result)
{
    Value iter = eval_expr(ev, s, st->value);
    Span at = st->value->span;
    if (iter.kind == V_FRAME && iter.u.frame->kind == FRAME_LOOP) {
        refuse_else(ev, st, "for");
        run_frame_loop(ev, s, iter.u.frame, st->targets[0], st->body, st->nbody, st->span, result);
        return RUN_NEXT;
    }
    if (iter.kind == V_FRAME)
        diag_fail(ev->diag, at, "'for' needs a loop; this is a context for 'with' [for-iterable]");
    if (scope_traces(ev, s) && !is_walked(&iter))
        diag_fail(ev->diag, at,
                  "a loop in a kernel walks range, T.serial, T.Parallel, … or a list, "
                  "and not %s [for-iterable]",
                  value_kind_name(&iter));
    if (scope_traces(ev, s) && iter.kind == V_RANGE) {
        refuse_else(ev, st, "for");
        if (ev->trace && !ev->trace->kernel && range_length(&iter) == 0)
            return RUN_NEXT; /* kernels that are never launched */
        run_frame_loop(ev, s, range_frame(ev, at, &iter), st->targets[0], st->body, st->nbody,
                       st->span, result);
        return RUN_NEXT;
    }
    if (iter.kind == V_OPAQUE && s->is_module)
        return RUN_NEXT;
    return for_python(ev, s, st, &iter, result);
}

/* ---- with ------------------------------------------------------------------------------------ */

typedef struct {
    Scope *s;
    const AstStmt *st;
    int item; /* which `with` item is next */
    Value *result;
} With;

static RunResult with_next(Eval *ev, const With *w);

static RunResult with_inner(Eval *ev, const With *w)
{
    With next = *w;
    next.item++;
    return with_next(ev, &next);
}

static void bind_with(Eval *ev, const With *w, const Value *v)
{
    const Ast *target = w->st->items[w->item].target;
    if (target && ev->trace)
        bind_loop_var(ev, w->s, target, v);
    else if (target)
        assign(ev, w->s, target, v);
}

static void bind_blocks(Eval *ev, const With *w, Kernel *k)
{
    const Ast *target = w->st->items[w->item].target;
    Value each[3];
    for (int i = 0; i < k->ngrid; i++)
        each[i] = value_expr(ev, expr_var(ev->ir, k->block[i]));
    if (!target)
        return;
    bool tuple = target->kind == AST_TUPLE || target->kind == AST_LIST;
    if (tuple && target->nkid != k->ngrid)
        diag_fail(ev->diag, target->span, "T.Kernel has %d grid dimension%s and %d name%s "
                  "[unpack-count]", k->ngrid, k->ngrid == 1 ? "" : "s", target->nkid,
                  target->nkid == 1 ? "" : "s");
    Value v = k->ngrid > 1 || tuple ? value_seq(ev, V_TUPLE, each, k->ngrid) : each[0];
    bind_loop_var(ev, w->s, target, &v);
}

static Kernel *open_kernel(Eval *ev, const With *w, const Frame *f)
{
    static const char *const block[] = {"bx", "by", "bz"}, *const thread[] = {"tx", "ty", "tz"};
    Trace *t = ev->trace;
    const Ast *target = w->st->items[w->item].target;
    int n = t->func->kernels.n;
    const char *name = n ? arena_printf(ev->arena, "%s_kernel_%d", t->func->name, n)
                         : arena_printf(ev->arena, "%s_kernel", t->func->name);
    Kernel *k = kernel_new(t->func, name, f->span);
    k->ngrid = f->n;
    k->prelude = f->prelude;
    k->hints = f->hints;
    for (int i = 0; i < f->n; i++) {
        k->grid[i] = f->extent[i];
        k->block[i] = var_new(ev->ir, target_name(target, i, f->n, block), DT_I32, f->span);
    }
    for (int i = 0; i < 3; i++) {
        k->threads[i] = f->threads[i] ? f->threads[i] : 1;
        k->cluster[i] = f->cluster[i] ? f->cluster[i] : 1;
        k->thread[i] = var_new(ev->ir, thread[i], DT_I32, f->span);
    }
    return k;
}

static RunResult with_kernel(Eval *ev, const With *w, const Frame *f)
{
    Trace *t = ev->trace;
    trace_need(ev, f->span, "T.Kernel");
    if (t->eager == 1) {
        t->stopped = true;
        return RUN_RETURN;
    }
    if (t->kernel)
        diag_fail(ev->diag, f->span, "T.Kernel cannot stand inside of another T.Kernel "
                  "[nested-kernel]");
    Kernel *k = open_kernel(ev, w, f);
    Builder inner, *outer = t->build;
    LoopMark m = loop_enter(ev, 0);
    build_open(&inner, ev->ir, outer);
    t->build = &inner;
    t->kernel = k;
    for (int i = 0; i < t->derived.n; i++)
        vec_push(ev->ir->arena, &k->buffers, t->derived.at[i]);
    t->kernel_frame = frame_open(ev);
    bind_blocks(ev, w, k);
    RunResult r = with_inner(ev, w);
    frame_close(ev);
    t->kernel = NULL;
    t->build = outer;
    loop_leave(ev, m);
    k->body = split_at_grid_sync(k, build_close(&inner, w->st->span));
    k->body = apply_tensor_layouts(k, &t->laid, k->body);
    t->laid.n = 0;
    origins_learn(k);
    trace_thread_body(k);
    trace_emit(ev, stmt_launch(ev->ir, f->span, k));
    return r;
}

static const Stmt *with_traced(Eval *ev, const With *w, RunResult *r)
{
    Builder inner, *outer = ev->trace->build;
    build_open(&inner, ev->ir, outer);
    ev->trace->build = &inner;
    frame_open(ev);
    ev->trace->depth_control++;
    *r = with_inner(ev, w);
    ev->trace->depth_control--;
    frame_close(ev);
    ev->trace->build = outer;
    return build_close(&inner, w->st->span);
}

static RunResult with_role(Eval *ev, const With *w, const Frame *f)
{
    RunResult r;
    trace_need_kernel(ev, f->span, "T.ws");
    ev->trace->kernel->uses_threads = true;
    const Stmt *body = with_traced(ev, w, &r);
    int *groups = NEWN(ev->arena, int, f->nrole + 1);
    memcpy(groups, f->role, sizeof *groups * (size_t)f->nrole);
    trace_emit(ev, stmt_role(ev->ir, f->span, ROLE_WS, f->nrole, groups, body));
    return r;
}

/* with T.If(c): with T.Then(): …  with T.Else(): … */
static RunResult with_if(Eval *ev, const With *w, const Frame *f)
{
    Trace *t = ev->trace;
    const Expr *pending = t->pending;
    const Stmt *then_part = t->then_part, *else_part = t->else_part;
    t->pending = f->cond;
    t->then_part = t->else_part = NULL;
    RunResult r = with_inner(ev, w);
    const Stmt *then = t->then_part ? t->then_part : stmt_block(ev->ir, f->span, 0, NULL);
    trace_emit(ev, stmt_if(ev->ir, f->span, f->cond, then, t->else_part));
    t->pending = pending;
    t->then_part = then_part;
    t->else_part = else_part;
    return r;
}

/* with T.While(c): … */
static RunResult with_while(Eval *ev, const With *w, const Frame *f)
{
    RunResult r;
    int64_t known;
    if (expr_is_int(f->cond, &known) && known)
        diag_fail(ev->diag, f->span, "this condition is true at compile time: the loop would never "
                  "end [infinite-loop]");
    LoopMark m = loop_enter(ev, 'r');
    const Stmt *body = with_traced(ev, w, &r);
    loop_leave(ev, m);
    trace_emit(ev, stmt_while(ev->ir, f->span, f->cond, body));
    return RUN_NEXT;
}

static RunResult with_part(Eval *ev, const With *w, const Frame *f)
{
    RunResult r;
    Trace *t = ev->trace;
    if (!t->pending)
        diag_fail(ev->diag, f->span, "T.Then and T.Else stand inside of T.If [if-frame]");
    const Expr *cond = t->pending;
    t->pending = NULL;
    const Stmt *body = with_traced(ev, w, &r);
    t->pending = cond;
    if (f->kind == FRAME_THEN)
        t->then_part = body;
    else
        t->else_part = body;
    return r;
}

static const Stmt *copy_async(Ir *ir, const Stmt *s, void *arg)
{
    (void)arg;
    if (s->kind != ST_STORE || buffer_root(s->u.store.buf)->scope != MEM_SHARED ||
        s->u.store.value->op != EX_LOAD ||
        buffer_root(s->u.store.value->u.buf)->scope != MEM_GLOBAL)
        return s;
    return stmt_store_async(ir, s, ASYNC_COPY);
}

static RunResult with_attr(Eval *ev, const With *w, const Frame *f)
{
    Value none = value_none();
    int from = f->copies_async ? ev->trace->build->list.n : 0;

    bind_with(ev, w, &none);
    RunResult r = with_inner(ev, w);
    for (int i = from; f->copies_async && i < ev->trace->build->list.n; i++) {
        const Stmt **s = &ev->trace->build->list.at[i];
        *s = stmt_map(ev->ir, *s, copy_async, NULL);
    }
    return r;
}

static RunResult with_frame(Eval *ev, const With *w, const Frame *f)
{
    Value none = value_none();
    switch (f->kind) {
    case FRAME_KERNEL: return with_kernel(ev, w, f);
    case FRAME_ROLE: return with_role(ev, w, f);
    case FRAME_IF: trace_need(ev, f->span, "T.If"); return with_if(ev, w, f);
    case FRAME_WHILE: trace_need_kernel(ev, f->span, "T.While"); return with_while(ev, w, f);
    case FRAME_THEN: case FRAME_ELSE: trace_need(ev, f->span, "T.Then"); return with_part(ev, w, f);
    case FRAME_ASSERT:
        trace_need(ev, f->span, "T.Assert");
        trace_emit(ev, stmt_assert(ev->ir, f->span, f->cond, f->text ? f->text : ""));
        return with_inner(ev, w);
    case FRAME_LOOP:
        if (w->item + 1 != w->st->nitem)
            diag_fail(ev->diag, f->span, "a loop must be the last of several contexts [with-loop]");
        run_frame_loop(ev, w->s, f, w->st->items[w->item].target, w->st->body, w->st->nbody,
                       w->st->span, w->result);
        return RUN_NEXT;
    case FRAME_ATTR: return with_attr(ev, w, f);
    case FRAME_NULL: bind_with(ev, w, &none); return with_inner(ev, w);
    }
    unreachable();
}

static RunResult with_object(Eval *ev, const With *w, const Value *v, Span at)
{
    Value *enter = object_field(v->u.object, "__enter__"),
          *leave = object_field(v->u.object, "__exit__");
    if (!enter || !leave || enter->kind != V_FUNCTION || leave->kind != V_FUNCTION)
        diag_fail(ev->diag, at, "'%s' is not a context [not-a-context]", v->u.object->name);
    Value got = call_function(ev, at, enter->u.func, v, &(CallArgs){.span = at});
    Value none[3] = {value_none(), value_none(), value_none()};
    Span spans[3] = {at, at, at};
    const Ast *target = w->st->items[w->item].target;
    if (target)
        assign(ev, w->s, target, &got);
    RunResult r = with_inner(ev, w);
    call_function(ev, at, leave->u.func, v,
                  &(CallArgs){.span = at, .n = 3, .at = none, .spans = spans});
    return r;
}

static bool with_foreign(Eval *ev, const With *w, const Value *v, Span at, RunResult *r)
{
    Value got, done;
    if (!host_op(ev, at, "enter", v, 1, &got))
        return false;
    const Ast *target = w->st->items[w->item].target;
    if (target)
        assign(ev, w->s, target, &got);
    *r = with_inner(ev, w);
    host_op(ev, at, "exit", v, 1, &done);
    return true;
}

static RunResult with_next(Eval *ev, const With *w)
{
    if (w->item == w->st->nitem)
        return eval_block(ev, w->s, w->st->body, w->st->nbody, w->result);
    const AstWith *item = &w->st->items[w->item];
    int before = ev->trace && ev->trace->build ? ev->trace->build->list.n : 0;
    Value v = eval_expr(ev, w->s, item->context);
    if (v.kind == V_FRAME && v.u.frame->kind == FRAME_WHILE && ev->trace->build &&
        ev->trace->build->list.n != before)
        diag_fail(ev->diag, item->context->span, "this condition does something, which would be "
                  "done once, before the loop; write it as `while` [while-condition]");
    switch (v.kind) {
    case V_FRAME: return with_frame(ev, w, v.u.frame);
    case V_OBJECT: return with_object(ev, w, &v, item->context->span);
    case V_FOREIGN: {
        RunResult r;
        if (with_foreign(ev, w, &v, item->context->span, &r))
            return r;
        break;
    }
    case V_OPAQUE:
        if (ev->trace)
            fail_opaque(ev, item->context->span, &v, "'with'");
        bind_with(ev, w, &v);
        return with_inner(ev, w);
    case V_NONE:
        if (!ev->trace)
            break;
        bind_with(ev, w, &v);
        return with_inner(ev, w);
    default: break;
    }
    diag_fail(ev->diag, item->context->span, "'with' needs a context, not %s [not-a-context]",
              value_kind_name(&v));
}

RunResult eval_with(Eval *ev, Scope *s, const AstStmt *st, Value *result)
{
    With w = {.s = s, .st = st, .result = result};
    return with_next(ev, &w);
}
