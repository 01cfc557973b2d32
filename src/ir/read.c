/* read.c -- text to IR: functions, kernels, buffers and plans.  The form is described in print.c.
 *
 * Reading what print_func wrote gives a function that prints the same bytes.  A kernel that stands
 * alone (print_kernel) becomes a function that launches it: its tensors are the parameters, its
 * announced variables the dynamic sizes. */
#include <stdlib.h>
#include "ir/mech.h"
#include "ir/read.h"

/* ---- buffers ---------------------------------------------------------------------------- */

static MemScope read_scope(Reader *r)
{
    Span at = r->tok.span;
    const char *name = tok_name(r, "a memory scope");
    for (int i = 0; i < MEM_COUNT; i++) {
        if (strcmp(name, mem_name((MemScope)i)) == 0)
            return (MemScope)i;
    }
    read_fail(r, at, "unknown memory scope '%s' [ir-name]", name);
}

/* "(e, e)" of n integers. */
static const Expr **read_sizes(Reader *r, const char *open, const char *close, int64_t want)
{
    ExprVec list;
    Span at = r->tok.span;
    tok_expect(r, open);
    read_list(r, close, false, &list);
    if (list.n != want)
        read_fail(r, at, "expected %lld numbers, not %d [ir-type]", (long long)want, list.n);
    for (int i = 0; i < list.n; i++) {
        if (!dtype_is_int(list.at[i]->type) || list.at[i]->lanes != 1)
            read_fail(r, at, "a size is one integer [ir-type]");
    }
    return list.n ? list.at : NEWN(r->arena, const Expr *, 1);
}

static void read_buffer_flags(Reader *r, Buffer *b)
{
    for (;;) {
        if (tok_take(r, "stride")) {
            b->stride = read_sizes(r, "(", ")", b->rank);
        } else if (tok_take(r, "view")) {
            tok_expect(r, "(");
            b->view_of = read_buffer_name(r);
            tok_expect(r, ")");
        } else if (tok_take(r, "reducer")) {
            b->reducer = tok_string(r);
        } else if (tok_take(r, "arrive")) {
            b->arrive = read_sizes(r, "(", ")", MAX(buffer_static_size(b), 0));
        } else if (tok_take(r, "pointer")) {
            tok_expect(r, "(");
            b->pointer = read_var(r);
            tok_expect(r, ")");
        } else if (tok_take(r, "is_param")) {
            b->is_param = true;
        } else if (tok_take(r, "is_output")) {
            b->is_output = true;
        } else if (tok_take(r, "is_workspace")) {
            b->is_workspace = true;
        } else if (tok_take(r, "unaligned")) {
            b->unaligned = true;
        } else if (tok_take(r, "for_all")) {
            b->for_all = true;
        } else {
            return;
        }
    }
}

/* "name: type[shape] scope flags", the name read already and ':' taken; not the end of the line. */
static Buffer *read_buffer(Reader *r, const char *name, DType t, Span at)
{
    ExprVec shape;
    Named *n = map_get(&r->names, name);
    if (n && (n->buf || n->var))
        read_fail(r, at, "'%s' is declared twice [ir-name]", name);
    tok_expect(r, "[");
    read_list(r, "]", false, &shape);
    if (shape.n > RANK_MOST)
        read_fail(r, at, "a buffer of rank %d; the most is %d [ir-type]", shape.n, RANK_MOST);
    for (int i = 0; i < shape.n; i++) {
        if (!dtype_is_int(shape.at[i]->type) || shape.at[i]->lanes != 1)
            read_fail(r, at, "a size is one integer [ir-type]");
    }
    Buffer *b = buffer_new(r->ir, name_hint(r, name), t, read_scope(r), shape.n, shape.at, NO_SPAN);
    read_buffer_flags(r, b);
    if (!n) {
        n = NEW(r->arena, Named);
        map_set(&r->names, name, n);
    }
    n->buf = b;
    return b;
}

static Buffer *read_buffer_line(Reader *r)
{
    Span at = r->tok.span;
    const char *name = tok_name(r, "a buffer");
    Named *n = map_get(&r->names, name);
    if (r->tok.kind == TOKEN_NEWLINE && n && n->buf) {
        lex_next(r);
        return n->buf;
    }
    tok_expect(r, ":");
    DType t = read_type(r, NULL);
    Buffer *b = read_buffer(r, name, t, at);
    b->span = read_line_end(r);
    return b;
}

/* "name: type" of a variable and the end of its line. */
static Var *read_var_line(Reader *r)
{
    Span at = r->tok.span;
    const char *name = tok_name(r, "a variable");
    tok_expect(r, ":");
    DType t = read_type(r, NULL);
    Var *v = define_var(r, name, t, at);
    Span span = read_line_end(r);
    if (span.src)
        v->span = span;
    return v;
}

static void read_other(Reader *r)
{
    Buffer *b = read_buffer_line(r);
    if (r->alone && b->is_param) {
        Param p = {.name = b->name, .buf = b, .out = b->is_output, .span = b->span};
        vec_push(r->arena, &r->func->params, p);
    }
}

static void read_source(Reader *r)
{
    r->main->name = tok_string(r);
    map_set(&r->sources, r->main->name, r->main);
    read_line_end(r);
}

/* ---- kernels ---------------------------------------------------------------------------- */

static void read_form(Reader *r, Kernel *k)
{
    while (r->tok.kind == TOKEN_NAME) {
        int bit = 0;
        while (text_form(bit) && !tok_is(r, text_form(bit)))
            bit++;
        if (!text_form(bit))
            read_fail(r, r->tok.span, "unknown form '%s' [ir-name]", r->tok.text);
        k->form |= 1u << bit;
        lex_next(r);
    }
    read_line_end(r);
}

/* "name: type =" or "_ =" */
static Var *read_axis(Reader *r)
{
    Span at = r->tok.span;
    const char *name = tok_name(r, "a variable");
    Var *v = NULL;
    if (strcmp(name, "_") != 0) {
        tok_expect(r, ":");
        DType t = read_type(r, NULL);
        v = define_var(r, name, t, at);
    }
    tok_expect(r, "=");
    return v;
}

static void read_grid(Reader *r, Kernel *k)
{
    k->ngrid = 0;
    do {
        if (k->ngrid == COUNT(k->grid))
            read_fail(r, r->tok.span, "a grid has at most 3 dimensions [ir-syntax]");
        k->block[k->ngrid] = read_axis(r);
        Span at = r->tok.span;
        k->grid[k->ngrid] = read_expr(r);
        if (!dtype_is_int(k->grid[k->ngrid]->type) || k->grid[k->ngrid]->lanes != 1)
            read_fail(r, at, "a grid's size is one integer [ir-type]");
        k->ngrid++;
    } while (tok_take(r, ","));
    read_line_end(r);
}

enum { THREADS_MOST = 1024, CLUSTER_MOST = 16 };

static void read_threads(Reader *r, Kernel *k)
{
    for (int i = 0; i < 3; i++) {
        if (i)
            tok_expect(r, ",");
        k->thread[i] = read_axis(r);
        k->threads[i] = (int)tok_int(r, 0, THREADS_MOST);
    }
    read_line_end(r);
}

static void read_cluster(Reader *r, Kernel *k)
{
    for (int i = 0; i < 3; i++) {
        if (i)
            tok_expect(r, ",");
        k->cluster[i] = (int)tok_int(r, 0, THREADS_MOST);
    }
    read_line_end(r);
}

static const Mech *read_mechanism(Reader *r)
{
    Span at = r->tok.span;
    const char *name = tok_string(r);
    const Mech *m = mech_find(r->ir->mechs, name);
    if (!m)
        read_fail(r, at, "unknown mechanism '%s' [ir-name]", name);
    return m;
}

static int read_tile_id(Reader *r)
{
    tok_expect(r, "#");
    int id = (int)tok_int(r, 0, TILES_MOST);
    r->ir->ntile = MAX(r->ir->ntile, id + 1);
    return id;
}

static void read_tile_plan(Reader *r, Kernel *k)
{
    Stmt key = {.kind = ST_TILE};
    key.u.tile.id = read_tile_id(r);
    TilePlan *t = tile_plan(k, &key);
    tok_expect(r, "how");
    t->how = read_mechanism(r);
    t->why = tok_take(r, "why") ? tok_string(r) : NULL;
    t->ahead = tok_take(r, "ahead") ? (int)tok_int(r, INT32_MIN, INT32_MAX) : 0;
    t->pipe = tok_take(r, "pipe") ? (int)tok_int(r, INT32_MIN, INT32_MAX) : 0;
    t->in_group = tok_take(r, "in_group");
    t->left_open = tok_take(r, "open");
    t->or_loops = tok_take(r, "or_loops");
    t->share = tok_take(r, "share") ? (int)tok_int(r, 0, CLUSTER_MOST) : 0;
    t->share_step = t->share ? (int)tok_int(r, 1, CLUSTER_MOST) : 0;
    t->alone = tok_take(r, "alone") ? (CopyAlone)tok_int(r, ALONE_ONCE, ALONE_STAGED) : ALONE_NO;
    if (tok_take(r, "isa")) {
        Span at = r->tok.span;
        const char *name = tok_string(r);
        t->isa = r->ir->words->isa_find(name);
        if (!t->isa)
            read_fail(r, at, "unknown instruction '%s' [ir-name]", name);
    }
    read_line_end(r);
}

static void read_plan(Reader *r, Kernel *k)
{
    double ratio;
    BufferPlan *b = buffer_plan(k, read_buffer_name(r));
    if (tok_take(r, "layout"))
        b->layout = read_layout(r);
    b->pinned = tok_take(r, "pinned");
    if (tok_take(r, "safe")) {
        tok_expect(r, "(");
        b->safe = read_expr(r);
        tok_expect(r, ")");
    }
    if (tok_take(r, "l2")) {
        Span at = r->tok.span;
        tok_expect(r, "(");
        if (!expr_is_float(read_expr(r), &ratio))
            read_fail(r, at, "a ratio is a number [ir-type]");
        tok_expect(r, ")");
        b->l2_hit_ratio = ratio;
    }
    if (tok_take(r, "stages"))
        b->stages = (int)tok_int(r, 0, INT32_MAX);
    if (tok_take(r, "groups"))
        b->groups = (int)tok_int(r, 0, THREADS_MOST);
    b->fresh = tok_take(r, "fresh");
    if (tok_take(r, "threads")) {
        b->group.first = (int)tok_int(r, 0, INT32_MAX);
        b->group.n = (int)tok_int(r, 0, INT32_MAX);
    }
    if (tok_take(r, "offset"))
        b->offset = tok_int(r, INT64_MIN + 1, INT64_MAX);
    if (tok_take(r, "nbytes"))
        b->nbytes = tok_int(r, INT64_MIN + 1, INT64_MAX);
    b->placed = tok_take(r, "placed");
    read_line_end(r);
}

static void read_loop_plan(Reader *r, Kernel *k)
{
    LoopPlan l = {.var = read_var(r)};
    if (tok_take(r, "ahead"))
        l.ahead = (int)tok_int(r, 0, INT32_MAX);
    if (!l.ahead)
        tok_expect(r, "layout");
    if (!l.ahead || tok_take(r, "layout"))
        l.layout = read_layout(r);
    vec_push(r->arena, &k->loops, l);
    read_line_end(r);
}

typedef struct {
    int64_t want;
    const Stmt *found;
} Count;

static bool count_stmt(const Stmt *s, void *arg)
{
    Count *c = arg;
    if (s->kind != ST_BLOCK && c->want-- == 0)
        c->found = s;
    return !c->found;
}

static void read_convert(Reader *r, Kernel *k)
{
    Convert v = {.buf = read_buffer_name(r)};
    tok_expect(r, "layout");
    v.layout = read_layout(r);
    tok_expect(r, "in");
    Count c = {tok_int(r, -1, INT32_MAX), NULL};
    if (c.want >= 0 && k->body)
        stmt_visit(k->body, count_stmt, &c);
    v.at = c.found;
    vec_push(r->arena, &k->converts, v);
    read_line_end(r);
}

static void read_swizzle(Reader *r, Kernel *k)
{
    k->swizzle_panel = (int)tok_int(r, INT32_MIN, INT32_MAX);
    k->swizzle_order = tok_take(r, "order") ? tok_string(r) : NULL;
    read_line_end(r);
}

static void read_alone_var(Reader *r)
{
    Var *v = read_var_line(r);
    if (r->alone)
        vec_push(r->arena, &r->func->dims, v);
}

/* One line of facts about a kernel.  False when it is something else. */
static bool read_fact(Reader *r, Kernel *k)
{
    if (tok_take(r, "at")) {
        k->span = read_line_end(r);
    } else if (tok_take(r, "extra_threads")) {
        k->extra_threads = (int)tok_int(r, 0, THREADS_MOST);
        read_line_end(r);
    } else if (tok_take(r, "uses_threads")) {
        k->uses_threads = true;
        read_line_end(r);
    } else if (tok_take(r, "assume")) {
        k->assume = read_expr(r);
        read_line_end(r);
    } else if (tok_take(r, "swizzle")) {
        read_swizzle(r, k);
    } else if (tok_take(r, "persistent")) {
        k->persistent = (int)tok_int(r, 0, INT32_MAX);
        read_line_end(r);
    } else if (tok_take(r, "longest")) {
        k->longest.dim = (int)tok_int(r, 0, 2);
        k->longest.way = (int)tok_int(r, -1, 1);
        k->longest.panel = tok_int(r, 0, INT64_MAX);
        read_line_end(r);
    } else if (tok_take(r, "min_blocks")) {
        k->min_blocks = (int)tok_int(r, INT32_MIN, INT32_MAX);
        read_line_end(r);
    } else if (tok_take(r, "arena_bytes")) {
        k->arena_bytes = tok_int(r, INT64_MIN + 1, INT64_MAX);
        read_line_end(r);
    } else if (tok_take(r, "tensor_columns")) {
        k->tensor_columns = (int)tok_int(r, 0, INT32_MAX);
        read_line_end(r);
    } else if (tok_take(r, "prelude")) {
        k->prelude = tok_string(r);
        read_line_end(r);
    } else if (tok_take(r, "origin")) {
        const char *text = tok_string(r);
        vec_push(r->arena, &k->origins, ((Origin){read_line_end(r), text}));
    } else if (tok_take(r, "hints")) {
        k->hints = read_hints(r);
        read_line_end(r);
    } else if (tok_take(r, "cluster")) {
        read_cluster(r, k);
    } else {
        return false;
    }
    return true;
}

static void read_kernel_line(Reader *r, Kernel *k)
{
    if (tok_take(r, "source")) {
        read_source(r);
    } else if (tok_take(r, "form")) {
        read_form(r, k);
    } else if (tok_take(r, "grid")) {
        read_grid(r, k);
    } else if (tok_take(r, "threads")) {
        read_threads(r, k);
    } else if (tok_take(r, "buffer")) {
        Buffer *b = read_buffer_line(r);
        vec_push(r->arena, &k->buffers, b);
    } else if (tok_take(r, "other")) {
        read_other(r);
    } else if (tok_take(r, "var")) {
        read_alone_var(r);
    } else if (tok_take(r, "tile")) {
        read_tile_plan(r, k);
    } else if (tok_take(r, "plan")) {
        read_plan(r, k);
    } else if (tok_take(r, "loop")) {
        read_loop_plan(r, k);
    } else if (tok_take(r, "convert")) {
        read_convert(r, k);
    } else if (tok_take(r, "body")) {
        if (k->body)
            read_fail(r, r->tok.span, "a kernel has one body [ir-syntax]");
        k->body = read_block(r);
    } else if (!read_fact(r, k)) {
        read_fail(r, r->tok.span, "expected a line of a kernel [ir-syntax]");
    }
}

Kernel *read_kernel(Reader *r, const char *name)
{
    Kernel *k = kernel_new(r->func, name, NO_SPAN);
    map_set(&r->kernels, name, k);
    while (r->tok.kind != TOKEN_DEDENT) {
        if (r->tok.kind == TOKEN_END)
            read_fail(r, r->tok.span, "the text ends inside a kernel [ir-syntax]");
        read_kernel_line(r, k);
    }
    lex_next(r);
    if (!k->body)
        k->body = stmt_block(r->ir, k->span, 0, NULL);
    return k;
}

static Kernel *read_kernel_def(Reader *r)
{
    Span at = r->tok.span, span;
    const char *name = tok_name(r, "a kernel's name");
    if (map_has(&r->kernels, name))
        read_fail(r, at, "the kernel '%s' is written twice [ir-name]", name);
    read_open(r, &span);
    return read_kernel(r, name);
}

/* ---- functions -------------------------------------------------------------------------- */

static void read_param(Reader *r)
{
    Span at = r->tok.span;
    const char *name = tok_name(r, "a parameter");
    Param p = {0};
    tok_expect(r, ":");
    DType t = read_type(r, NULL);
    if (tok_is(r, "["))
        p.buf = read_buffer(r, name, t, at);
    else
        p.var = define_var(r, name, t, at);
    p.name = tok_take(r, "named") ? tok_string(r) : name_hint(r, name);
    p.out = tok_take(r, "out");
    p.span = read_line_end(r);
    if (p.buf)
        p.buf->span = p.span;
    else if (p.span.src)
        p.var->span = p.span;
    vec_push(r->arena, &r->func->params, p);
}

/* One line at the head of a function.  False when it is a statement. */
static bool read_func_line(Reader *r)
{
    Func *f = r->func;
    if (tok_take(r, "source")) {
        read_source(r);
    } else if (tok_take(r, "dim")) {
        Var *v = read_var_line(r);
        vec_push(r->arena, &f->dims, v);
    } else if (tok_take(r, "param")) {
        read_param(r);
    } else if (tok_take(r, "workspace")) {
        Buffer *b = read_buffer_line(r);
        vec_push(r->arena, &f->workspaces, b);
    } else if (tok_take(r, "hints")) {
        f->hints = read_hints(r);
        read_line_end(r);
    } else if (tok_take(r, "var")) {
        read_var_line(r);
    } else if (tok_take(r, "other")) {
        read_other(r);
    } else {
        return false;
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* "order j, i": these variables take each other's places, so that they come in this order. */
static void read_order(Reader *r)
{
    VEC(Var *) vars = {0};
    Map seen;
    map_init(&seen, r->arena);
    do {
        Span at = r->tok.span;
        Var *v = read_var(r);
        if (map_has(&seen, v))
            read_fail(r, at, "'%s' stands twice in the order [ir-name]", v->name);
        map_set(&seen, v, v);
        vec_push(r->arena, &vars, v);
    } while (tok_take(r, ","));
    read_line_end(r);
    int *order = NEWN(r->arena, int, vars.n);
    for (int i = 0; i < vars.n; i++)
        order[i] = vars.at[i]->order;
    qsort(order, (size_t)vars.n, sizeof *order, by_number);
    for (int i = 0; i < vars.n; i++)
        vars.at[i]->order = order[i];
}

static Func *read_func(Reader *r)
{
    VEC(const Stmt *) list = {0};
    r->func = func_new(r->ir, tok_name(r, "a function's name"), NO_SPAN);
    read_open(r, &r->func->span);
    while (r->tok.kind != TOKEN_DEDENT) {
        if (r->tok.kind == TOKEN_END)
            read_fail(r, r->tok.span, "the text ends inside a function [ir-syntax]");
        if (list.n == 0 && read_func_line(r))
            continue;
        const Stmt *s = NULL;
        if (tok_take(r, "kernel"))
            read_kernel_def(r);
        else if (tok_take(r, "order"))
            read_order(r);
        else
            s = read_stmt(r);
        if (s)
            vec_push(r->arena, &list, s);
    }
    lex_next(r);
    r->func->body = stmt_block(r->ir, r->func->span, list.n, list.at);
    return r->func;
}

Func *func_read(Ir *ir, const Source *src)
{
    Reader *r = NEW(ir->arena, Reader);
    lex_start(r, ir, src);
    lex_next(r);
    if (tok_take(r, "kernel")) {
        r->alone = true;
        r->func = func_new(ir, "main", NO_SPAN);
        Kernel *k = read_kernel_def(r);
        r->func->span = k->span;
        r->func->body = stmt_launch(ir, k->span, k);
    } else {
        tok_expect(r, "func");
        read_func(r);
    }
    if (r->tok.kind != TOKEN_END)
        read_fail(r, r->tok.span, "text after the end of the function [ir-syntax]");
    return r->func;
}
