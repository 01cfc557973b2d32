/* emit_vector.c -- loops over f32 in whole vectors, where the C compiler would do worse.
 *
 * Taken are loops of plain stores and folds over consecutive elements that have an exponential, a
 * logarithm, a sine or the like, a fold, many loads or a result that goes past the caches
 * (device/cpu/vector.h has the vectors).  Every other loop is left to the compiler.
 *
 *     elements up to an aligned one, if many results are streamed; whole vectors; the rest, as
 *     a part of one, or one by one into a fold */
#include "target/cpu/emit.h"
#include "target/cpu/pass/rows.h"

enum {
    FOLDS_MOST = 4, ACCUMULATORS = 4,
    LOADS = 8, /* GCC has a pointer for each of them, and no registers for the pointers */
    ALIGN_LEAST = 64, /* vectors: in shorter loops elements before an aligned one cost too much */
};

typedef struct {
    Emit *e;
    Var *v;
    Map lets;              /* vectors bound in the body */
    Map stored;            /* roots stored to */
    const Stmt *stream;    /* the first store that goes past the caches */
    bool aligned;          /* vectors begin where a line of that one does */
    const Stmt *fold[FOLDS_MOST];
    int nfold, nstore, nload;
    bool math;
    const char *left;      /* so many elements are there of the vector that is printed */
} Vector;

static const char *const math_name[MATH_COUNT] = {
    [MATH_EXP2] = "tl_vexp2", [MATH_EXP] = "tl_vexp", [MATH_SQRT] = "tl_vsqrt",
    [MATH_RSQRT] = "tl_vrsqrt", [MATH_ABS] = "tl_vabs", [MATH_RCP] = "tl_vrcp",
    [MATH_FAST_RCP] = "tl_vrcp", [MATH_SIGMOID] = "tl_vsigmoid",
    [MATH_TANH] = "tl_vtanh", [MATH_ERF] = "tl_verf",
    [MATH_SIN] = "tl_vsin", [MATH_COS] = "tl_vcos", [MATH_LOG] = "tl_vlog",
    [MATH_LOG1P] = "tl_vlog1p", [MATH_MAX_NAN] = "tl_vmax_nan", [MATH_MIN_NAN] = "tl_vmin_nan",
};

typedef struct {
    const char *op, *join, *across; /* of two vectors; of the lanes of one */
} FoldRow;

static const FoldRow fold_rows[] = {
    {"+", NULL, NULL},
    {"max", "tl_vabove", "tl_vhighest"},
    {"min", "tl_vbelow", "tl_vlowest"},
    {"max_nan", "tl_vabove_nan", "tl_vhighest_nan"},
    {"min_nan", "tl_vbelow_nan", "tl_vlowest_nan"},
};

static const FoldRow *fold_row(const char *op)
{
    for (int i = 0; i < COUNT(fold_rows); i++)
        if (!strcmp(fold_rows[i].op, op))
            return &fold_rows[i];
    return NULL;
}

/* ---- may it be done? ------------------------------------------------------------------------- */

typedef struct {
    const Vector *w;
    bool found;
} Varies;

static bool see_varying(const Expr *x, void *arg)
{
    Varies *f = arg;
    if (x->op == EX_VAR && (x->u.var == f->w->v || map_has(&f->w->lets, x->u.var)))
        f->found = true;
    if (x->op == EX_LOAD && map_has(&f->w->stored, buffer_root(x->u.buf)))
        f->found = true;
    return !f->found;
}

static bool varies(const Vector *w, const Expr *x)
{
    Varies f = {w, false};
    expr_visit(x, see_varying, &f);
    return f.found;
}

/* What an index grows by with v; false where it is not a multiple.  Indices do not wrap, so that
 * widening one changes nothing. */
static bool step_of(const Expr *x, const Var *v, int64_t *step)
{
    int64_t a, b;

    *step = 0;
    if (!expr_uses_var(x, v))
        return true;
    switch (x->op) {
    case EX_VAR: *step = 1; return true;
    case EX_CAST: return dtype_is_int((DType)x->kid[0]->type) && step_of(x->kid[0], v, step);
    case EX_ADD: case EX_SUB:
        if (!step_of(x->kid[0], v, &a) || !step_of(x->kid[1], v, &b))
            return false;
        *step = x->op == EX_ADD ? a + b : a - b;
        return true;
    case EX_MUL:
        if (expr_is_int(x->kid[0], &a) && step_of(x->kid[1], v, &b)) {
            *step = a * b;
            return true;
        }
        if (!expr_is_int(x->kid[1], &b) || !step_of(x->kid[0], v, &a))
            return false;
        *step = a * b;
        return true;
    default: return false;
    }
}

/* Elements one after the other, none of which is tested when it runs. */
bool is_consecutive(Emit *e, const Var *v, const Buffer *b, const Expr *at)
{
    int64_t step, size = -1;

    if (b->type != DT_F32 || b->scope == MEM_VAR || !step_of(at, v, &step) || step != 1)
        return false;
    if (b->scope != MEM_GLOBAL) {
        const Layout *l = buffer_plan(e->k, b)->layout;
        size = l ? layout_size(l) : buffer_static_size(b);
    }
    Bounds r = bounds_of(e->facts, at);
    return size < 0 || (r.lo >= 0 && r.hi < size);
}

/* What AVX-512 has instructions for, or C no cheap text. */
static bool is_dear(int fn)
{
    return fn == MATH_EXP2 || fn == MATH_EXP || fn == MATH_SIN || fn == MATH_COS ||
           fn == MATH_LOG || fn == MATH_LOG1P || fn == MATH_TANH || fn == MATH_ERF ||
           fn == MATH_SIGMOID;
}

static bool can_be_vector(Vector *w, const Expr *x);

/* A condition by what is f32. */
static bool can_choose(Vector *w, const Expr *x)
{
    switch (x->op) {
    case EX_EQ: case EX_NE: case EX_LT: case EX_LE: case EX_GT: case EX_GE:
        return can_be_vector(w, x->kid[0]) && can_be_vector(w, x->kid[1]);
    case EX_AND: case EX_OR: return can_choose(w, x->kid[0]) && can_choose(w, x->kid[1]);
    default: return false;
    }
}

static bool is_load(const Expr *x, void *arg)
{
    (void)arg;
    return x->op == EX_LOAD;
}

static bool can_be_vector(Vector *w, const Expr *x)
{
    if (x->type != DT_F32 || x->lanes != 1)
        return false;
    if (!varies(w, x))
        return true;
    switch (x->op) {
    case EX_VAR: return map_has(&w->lets, x->u.var);
    case EX_LOAD:
        w->nload++;
        return !x->guarded && is_consecutive(w->e, w->v, x->u.buf, x->kid[0]);
    case EX_MATH:
        w->math |= is_dear(x->u.fn);
        return math_name[x->u.fn] && can_be_vector(w, x->kid[0]) &&
               (x->nkid == 1 || can_be_vector(w, x->kid[1]));
    case EX_IF: case EX_SELECT: /* both sides are computed */
        return can_choose(w, x->kid[0]) && can_be_vector(w, x->kid[1]) &&
               can_be_vector(w, x->kid[2]) &&
               (x->op == EX_SELECT || (!expr_any(x->kid[1], is_load, NULL) &&
                                       !expr_any(x->kid[2], is_load, NULL)));
    case EX_NEG: return can_be_vector(w, x->kid[0]);
    case EX_ADD: case EX_SUB: case EX_MUL: case EX_DIV: case EX_MIN: case EX_MAX:
        return can_be_vector(w, x->kid[0]) && can_be_vector(w, x->kid[1]);
    default: return false;
    }
}

static bool take_fold(Vector *w, const Stmt *s, const Fold *f)
{
    if (w->nfold == FOLDS_MOST || f->acc->type != DT_F32 || !fold_row(f->op))
        return false;
    for (int i = 0; i < w->nfold; i++)
        if (w->fold[i]->u.store.buf == s->u.store.buf)
            return false;
    w->fold[w->nfold++] = s;
    return can_be_vector(w, f->value);
}

static bool take_stmt(Vector *w, const Stmt *s)
{
    Fold f;

    if (s->kind == ST_LET) {
        if (!can_be_vector(w, s->u.let.value))
            return false;
        map_set(&w->lets, s->u.let.var, s);
        return true;
    }
    if (find_fold(s, &f))
        return take_fold(w, s, &f);
    if (s->kind != ST_STORE || s->u.store.guard || s->u.store.value->lanes != 1 ||
        !is_consecutive(w->e, w->v, s->u.store.buf, s->u.store.at[0]) ||
        !can_be_vector(w, s->u.store.value))
        return false;
    w->nstore++;
    if (!w->stream && tensor_streams(w->e->k, s->u.store.buf))
        w->stream = s;
    return true;
}

static bool see_stored(const Stmt *s, void *arg)
{
    if (s->kind == ST_STORE)
        map_set(arg, buffer_root(s->u.store.buf), s);
    return true;
}

bool emits_vectors(Emit *e)
{
    const CpuLevel *level = cpu_level(e->spec);

    return (level->vector_bytes >= 32 || level->arm) && e->k && !e->k->uses_threads &&
           !cpu_of(e)->together;
}

static bool vector_init(Vector *w, Emit *e, const Stmt *loop)
{
    const Stmt *body = loop->u.loop.body;
    int n = body->kind == ST_BLOCK ? body->u.block.n : 1;

    *w = (Vector){.e = e, .v = loop->u.loop.var};
    if (!emits_vectors(e))
        return false;
    map_init(&w->lets, e->arena);
    map_init(&w->stored, e->arena);
    stmt_visit(body, see_stored, &w->stored);
    for (int i = 0; i < n; i++)
        if (!take_stmt(w, body->kind == ST_BLOCK ? body->u.block.list[i] : body))
            return false;
    return w->math || w->nfold || w->stream || w->nload >= LOADS;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_expr(Vector *w, const Expr *x);

static void put_call(Vector *w, const char *fn, const Expr *x)
{
    str_printf(w->e->out, "%s(", fn);
    for (int i = 0; i < x->nkid; i++) {
        str_puts(w->e->out, i ? ", " : "");
        put_expr(w, x->kid[i]);
    }
    str_putc(w->e->out, ')');
}

static void put_at(Vector *w, const Buffer *b, const Expr *at)
{
    str_printf(w->e->out, "&%s[", buffer_name(w->e, b));
    emit_loose(w->e, at);
    str_putc(w->e->out, ']');
}

static void put_choice(Vector *w, const Expr *x)
{
    Str *o = w->e->out;
    const bool both = x->op == EX_AND || x->op == EX_OR;

    str_puts(o, both ? "(" : "(tl_vi)(");
    (both ? put_choice : put_expr)(w, x->kid[0]);
    str_printf(o, " %s ", x->op == EX_AND ? "&" : x->op == EX_OR ? "|" : expr_table[x->op].text);
    (both ? put_choice : put_expr)(w, x->kid[1]);
    str_putc(o, ')');
}

static void put_expr(Vector *w, const Expr *x)
{
    Str *o = w->e->out;

    if (!varies(w, x)) {
        str_puts(o, "tl_vsplat(");
        emit_expr(w->e, x);
        str_putc(o, ')');
        return;
    }
    switch (x->op) {
    case EX_VAR: str_puts(o, var_name(w->e, x->u.var)); break;
    case EX_LOAD:
        str_puts(o, w->left ? "tl_vload_few(" : "tl_vload(");
        put_at(w, x->u.buf, x->kid[0]);
        str_printf(o, w->left ? ", %s)" : ")", w->left);
        break;
    case EX_MATH: put_call(w, math_name[x->u.fn], x); break;
    case EX_MIN: put_call(w, "tl_vmin", x); break;
    case EX_MAX: put_call(w, "tl_vmax", x); break;
    case EX_IF: case EX_SELECT:
        str_puts(o, "tl_vchoose(");
        put_choice(w, x->kid[0]);
        str_puts(o, ", ");
        put_expr(w, x->kid[1]);
        str_puts(o, ", ");
        put_expr(w, x->kid[2]);
        str_putc(o, ')');
        break;
    case EX_NEG:
        str_puts(o, "(-");
        put_expr(w, x->kid[0]);
        str_putc(o, ')');
        break;
    default:
        str_putc(o, '(');
        put_expr(w, x->kid[0]);
        str_printf(o, " %s ", expr_table[x->op].text);
        put_expr(w, x->kid[1]);
        str_putc(o, ')');
    }
}

static void put_fold(Vector *w, const Stmt *s, int copy)
{
    Fold f;
    Str *o = w->e->out;

    find_fold(s, &f);
    const char *acc = buffer_name(w->e, f.acc), *join = fold_row(f.op)->join;
    if (join)
        str_printf(o, "%s_v%d = %s(", acc, copy, join);
    else
        str_printf(o, "%s_v%d += ", acc, copy);
    put_expr(w, f.value);
    if (join)
        str_printf(o, ", %s_v%d)", acc, copy);
    str_puts(o, ";\n");
}

static void put_stmt(Vector *w, const Stmt *s, int copy)
{
    Emit *e = w->e;
    Fold f;

    emit_indent(e);
    if (s->kind == ST_LET) {
        str_printf(e->out, "const tl_v %s = ", var_name(e, s->u.let.var));
        put_expr(w, s->u.let.value);
        str_puts(e->out, ";\n");
    } else if (find_fold(s, &f)) {
        put_fold(w, s, copy);
    } else {
        const bool streams = w->stream && tensor_streams(e->k, s->u.store.buf);
        str_puts(e->out, w->left                        ? "tl_vstore_few("
                         : !streams                     ? "tl_vstore("
                         : s == w->stream && w->aligned ? "tl_vstream("
                                                        : "tl_vstream_any(");
        put_at(w, s->u.store.buf, s->u.store.at[0]);
        str_puts(e->out, ", ");
        put_expr(w, s->u.store.value);
        str_printf(e->out, w->left ? ", %s);\n" : ");\n", w->left);
    }
}

/* The loop as it was, from where we are; up to the first element at the address of a whole vector
 * of what is streamed. */
static void put_single(Vector *w, const Stmt *loop, bool until_aligned)
{
    Emit *e = w->e;
    const char *v = var_name(e, w->v);

    emit_line(e, "for (; %s_at < %s_end; %s_at++) {", v, v, v);
    e->indent++;
    emit_line(e, "const %s %s = %s_at;", c_value_type(w->v->type), v, v);
    if (until_aligned) {
        emit_indent(e);
        str_puts(e->out, "if (!((uintptr_t)");
        put_at(w, w->stream->u.store.buf, w->stream->u.store.at[0]);
        str_puts(e->out, " & (TL_VECTOR_BYTES - 1))) break;\n");
    }
    emit_fold_body(e, loop->u.loop.body);
    e->indent--;
    emit_line(e, "}");
}

/* Asks for what the next iteration of the outer loop reads, a line for each vector. */
static void put_ahead(Vector *w, const Stmt *loop)
{
    Emit *e = w->e;
    const Ahead *a = cpu_of(e)->ahead;

    if (!a || a->loop != loop)
        return;
    const Expr *at = expr_subst(e->ir, a->load->kid[0], a->inner, expr_var(e->ir, w->v));
    at = expr_subst(
        e->ir, at, a->outer,
        expr_add(e->ir, expr_var(e->ir, a->outer), expr_const(e->ir, a->outer->type, 1)));
    emit_indent(e);
    str_puts(e->out, "__builtin_prefetch(");
    put_at(w, a->load->u.buf, simplify(e->ir, e->facts, at));
    str_puts(e->out, ", 0, 2);\n");
}

static void put_body(Vector *w, const Stmt *loop, int copy)
{
    const Stmt *body = loop->u.loop.body;
    const int n = body->kind == ST_BLOCK ? body->u.block.n : 1;
    for (int i = 0; i < n; i++)
        put_stmt(w, body->kind == ST_BLOCK ? body->u.block.list[i] : body, copy);
}

static void put_copies(Vector *w, const Stmt *loop, int copies)
{
    Emit *e = w->e;
    const char *v = var_name(e, w->v);

    emit_line(e, "for (; %s_at <= %s_end - %d * TL_LANES; %s_at += %d * TL_LANES) {", v, v, copies,
              v, copies);
    e->indent++;
    for (int c = 0; c < copies; c++) {
        emit_line(e, "{");
        e->indent++;
        emit_line(e, "const %s %s = %s_at + %d * TL_LANES;", c_value_type(w->v->type), v, v, c);
        put_ahead(w, loop);
        put_body(w, loop, c);
        e->indent--;
        emit_line(e, "}");
    }
    e->indent--;
    emit_line(e, "}");
}

/* What is left, fewer than a vector. */
static void put_last(Vector *w, const Stmt *loop)
{
    Emit *e = w->e;
    const char *v = var_name(e, w->v), *t = c_value_type(w->v->type);
    emit_line(e, "if (%s_at < %s_end) {", v, v);
    e->indent++;
    emit_line(e, "const %s %s = %s_at, %s_left = %s_end - %s_at;", t, v, v, v, v, v);
    w->left = arena_printf(e->arena, "%s_left", v);
    put_body(w, loop, 0);
    w->left = NULL;
    e->indent--;
    emit_line(e, "}");
}

/* Sums start at nothing; the highest and lowest so far may be in every lane. */
static void put_accumulators(Vector *w, int copies)
{
    Fold f;

    for (int i = 0; i < w->nfold; i++)
        for (int c = 0; c < copies; c++) {
            find_fold(w->fold[i], &f);
            const char *acc = buffer_name(w->e, f.acc);
            if (!strcmp(f.op, "+"))
                emit_line(w->e, "tl_v %s_v%d = {0};", acc, c);
            else
                emit_line(w->e, "tl_v %s_v%d = tl_vsplat(%s);", acc, c, acc);
        }
}

static void put_joins(Vector *w, int copies)
{
    Emit *e = w->e;
    Fold f;

    for (int i = 0; i < w->nfold; i++) {
        find_fold(w->fold[i], &f);
        const char *acc = buffer_name(e, f.acc);
        const FoldRow *row = fold_row(f.op);
        for (int half = copies / 2; half; half /= 2)
            for (int c = 0; c < half; c++) {
                if (row->join)
                    emit_line(e, "%s_v%d = %s(%s_v%d, %s_v%d);", acc, c, row->join, acc, c, acc,
                              c + half);
                else
                    emit_line(e, "%s_v%d += %s_v%d;", acc, c, acc, c + half);
            }
        if (row->join)
            emit_line(e, "%s = %s(%s_v0);", acc, row->across, acc);
        else
            emit_line(e, "%s += tl_vsum(%s_v0);", acc, acc);
    }
}

static void put_start(Vector *w, const Stmt *loop)
{
    Emit *e = w->e;
    const char *v = var_name(e, w->v), *t = c_value_type(w->v->type);

    emit_indent(e);
    str_printf(e->out, "%s %s_at = ", t, v);
    emit_loose(e, loop->u.loop.min);
    str_puts(e->out, ";\n");
    emit_indent(e);
    str_printf(e->out, "const %s %s_end = %s_at + ", t, v, v);
    emit_index(e, loop->u.loop.extent);
    str_puts(e->out, ";\n");
}

bool emit_vector_loop(Emit *e, const Stmt *loop)
{
    Vector w;
    int64_t extent;

    if (!vector_init(&w, e, loop))
        return false;
    int lanes = cpu_level(e->spec)->vector_bytes / 4;
    bool fixed = expr_is_int(loop->u.loop.extent, &extent);
    int copies = w.nfold && !w.math && !w.nstore ? ACCUMULATORS : 1;
    if (fixed && extent < lanes)
        return false;
    cpu_of(e)->part[PART_VECTOR] = cpu_of(e)->part[PART_MATH] = true;
    emit_line(e, "{");
    e->indent++;
    put_start(&w, loop);
    w.aligned = w.stream && (!fixed || extent >= ALIGN_LEAST * lanes);
    cpu_of(e)->streams |= w.stream != NULL;
    if (w.aligned)
        put_single(&w, loop, true);
    put_accumulators(&w, copies);
    put_copies(&w, loop, copies);
    if (copies > 1 && (!fixed || extent % (copies * lanes) >= lanes))
        put_copies(&w, loop, 1);
    put_joins(&w, copies);
    if (w.nfold && (!fixed || extent % lanes || w.aligned))
        put_single(&w, loop, false);
    else if (!fixed || extent % lanes || w.aligned)
        put_last(&w, loop);
    e->indent--;
    emit_line(e, "}");
    return true;
}

/* ---- what the next row reads ----------------------------------------------------------------- */

typedef struct {
    Var *outer, *inner;
    const Expr *load;
} FindLoad;

static bool find_load(const Expr *x, void *arg)
{
    FindLoad *f = arg;
    int64_t outer, inner;

    if (!f->load && x->op == EX_LOAD && x->u.buf->scope == MEM_GLOBAL && x->u.buf->type == DT_F32 &&
        !x->guarded && step_of(x->kid[0], f->outer, &outer) && outer &&
        step_of(x->kid[0], f->inner, &inner) && inner == 1)
        f->load = x;
    return true;
}

static bool find_load_in(const Stmt *s, void *arg)
{
    if (s->kind != ST_BLOCK)
        stmt_visit_expr(s, find_load, arg);
    return true;
}

/* In the body of a loop over rows: a later loop over as many elements, to fetch the next row in
 * while it computes.  The last one is as good as any. */
const Ahead *find_ahead(Emit *e, const Stmt *rows)
{
    const Stmt *body = rows->u.loop.body, *first = NULL;
    FindLoad f = {.outer = rows->u.loop.var};
    Ahead *a = NULL;
    Vector w;

    for (int i = 0; body->kind == ST_BLOCK && i < body->u.block.n; i++) {
        const Stmt *s = body->u.block.list[i];
        if (s->kind != ST_FOR)
            continue;
        if (!first) {
            f.inner = s->u.loop.var;
            stmt_visit(s->u.loop.body, find_load_in, &f);
            first = f.load ? s : NULL;
        } else if (s->u.loop.extent == first->u.loop.extent && s->u.loop.min == first->u.loop.min &&
                   vector_init(&w, e, s) && (!a || w.math)) {
            a = a ? a : NEW(e->arena, Ahead);
            *a = (Ahead){s, f.outer, f.inner, f.load};
        }
    }
    return a;
}
