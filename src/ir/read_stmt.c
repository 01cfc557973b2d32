/* read_stmt.c -- statements of the text form. */
#include "ir/read.h"

/* ---- lines ------------------------------------------------------------------------------ */

static const Source *source_named(Reader *r, const char *name)
{
    Source *s = map_get(&r->sources, name);
    if (!s) {
        s = NEW(r->arena, Source);
        *s = (Source){name, "", 0};
        map_set(&r->sources, name, s);
    }
    return s;
}

static Span read_span(Reader *r)
{
    Span at = {.src = r->main};
    if (!tok_take(r, "@"))
        return NO_SPAN;
    if (r->tok.kind == TOKEN_STRING) {
        at.src = source_named(r, tok_string(r));
        tok_expect(r, ":");
    }
    at.line = (int32_t)tok_int(r, 0, INT32_MAX);
    tok_expect(r, ":");
    at.col = (int32_t)tok_int(r, 0, INT32_MAX);
    tok_expect(r, "-");
    at.end_line = (int32_t)tok_int(r, 0, INT32_MAX);
    tok_expect(r, ":");
    at.end_col = (int32_t)tok_int(r, 0, INT32_MAX);
    return at;
}

static void newline(Reader *r)
{
    if (r->tok.kind != TOKEN_NEWLINE)
        read_fail(r, r->tok.span, "expected the end of the line [ir-syntax]");
    lex_next(r);
}

Span read_line_end(Reader *r)
{
    Span at = read_span(r);
    newline(r);
    return at;
}

void read_open(Reader *r, Span *at)
{
    tok_expect(r, ":");
    *at = read_line_end(r);
    if (r->tok.kind != TOKEN_INDENT)
        read_fail(r, r->tok.span, "expected an indented block [ir-syntax]");
    lex_next(r);
}

/* The statements of a block that has been opened, and its end. */
static const Stmt *read_rest(Reader *r, Span at)
{
    VEC(const Stmt *) list = {0};
    read_enter(r);
    while (r->tok.kind != TOKEN_DEDENT) {
        if (r->tok.kind == TOKEN_END)
            read_fail(r, r->tok.span, "the text ends inside a block [ir-syntax]");
        const Stmt *s = read_stmt(r);
        if (s)
            vec_push(r->arena, &list, s);
    }
    lex_next(r);
    read_leave(r);
    return stmt_block(r->ir, at, list.n, list.at);
}

const Stmt *read_block(Reader *r)
{
    Span at;
    read_open(r, &at);
    return read_rest(r, at);
}

static const Expr *read_condition(Reader *r)
{
    Span at = r->tok.span;
    const Expr *e = read_expr(r);
    if (e->type != DT_BOOL || e->lanes != 1)
        read_fail(r, at, "a condition is one bool, not %s [ir-type]", dtype_name(e->type));
    return e;
}

/* ---- blocks ----------------------------------------------------------------------------- */

static LoopHow read_how(Reader *r)
{
    Span at = r->tok.span;
    const char *name = tok_name(r, "a kind of loop");
    for (int i = 0; i < LOOP_COUNT; i++) {
        if (strcmp(name, loop_name((LoopHow)i)) == 0)
            return (LoopHow)i;
    }
    read_fail(r, at, "unknown kind of loop '%s' [ir-name]", name);
}

static const Expr *read_bound(Reader *r, DType t)
{
    Span at = r->tok.span;
    const Expr *e = as_type(r, read_expr(r), t, at);
    if (e->lanes != 1)
        read_fail(r, at, "a bound that is a vector [ir-type]");
    return e;
}

static const Stmt *read_for(Reader *r)
{
    Span at = r->tok.span, span;
    Hints h = {0};
    DType t = DT_I32;
    const char *name = tok_name(r, "a variable");
    if (tok_take(r, ":"))
        t = read_type(r, NULL);
    if (!dtype_is_int(t))
        read_fail(r, at, "a loop over %s [ir-type]", dtype_name(t));
    Var *v = define_var(r, name, t, at);
    tok_expect(r, "in");
    LoopHow how = read_how(r);
    tok_expect(r, "(");
    const Expr *min = read_bound(r, t);
    tok_expect(r, ",");
    const Expr *extent = read_bound(r, t);
    tok_expect(r, ")");
    if (tok_take(r, "hints"))
        h = read_hints(r);
    read_open(r, &span);
    if (!v->span.src)
        v->span = span;
    return stmt_for(r->ir, span, how, v, min, extent, h, read_rest(r, span));
}

static const Stmt *read_if(Reader *r)
{
    Span span;
    const Stmt *orelse = NULL;
    const Expr *cond = read_condition(r);
    read_open(r, &span);
    const Stmt *then = read_rest(r, span);
    if (tok_take(r, "else"))
        orelse = read_block(r);
    return stmt_if(r->ir, span, cond, then, orelse);
}

static const Stmt *read_while(Reader *r)
{
    Span span;
    const Expr *cond = read_condition(r);
    read_open(r, &span);
    return stmt_while(r->ir, span, cond, read_rest(r, span));
}

static const Stmt *read_role(Reader *r)
{
    Span span;
    VEC(int) groups = {0};
    Span at = r->tok.span;
    const char *name = tok_string(r);
    int kind = 0;

    while (kind < ROLE_COUNT && strcmp(role_name[kind], name))
        kind++;
    if (kind == ROLE_COUNT)
        read_fail(r, at, "unknown role '%s' [ir-name]", name);
    tok_expect(r, "groups");
    tok_expect(r, "(");
    while (!tok_is(r, ")")) {
        int v = (int)tok_int(r, INT32_MIN, INT32_MAX);
        vec_push(r->arena, &groups, v);
        if (!tok_take(r, ","))
            break;
    }
    tok_expect(r, ")");
    read_open(r, &span);
    return stmt_role(r->ir, span, (RoleKind)kind, groups.n, groups.at, read_rest(r, span));
}

static const Stmt *read_launch(Reader *r)
{
    Span at = r->tok.span, span;
    const char *name = tok_name(r, "a kernel");
    Kernel *k = map_get(&r->kernels, name);
    if (tok_is(r, ":")) {
        if (k)
            read_fail(r, at, "the kernel '%s' is written twice [ir-name]", name);
        read_open(r, &span);
        return stmt_launch(r->ir, span, read_kernel(r, name));
    }
    if (!k)
        read_fail(r, at, "unknown kernel '%s' [ir-name]", name);
    return stmt_launch(r->ir, read_line_end(r), k);
}

/* ---- one line --------------------------------------------------------------------------- */

static Region read_region(Reader *r)
{
    Span at = r->tok.span;
    Buffer *b = read_buffer_name(r);
    Region g = {b, NEWN(r->arena, const Expr *, b->rank), NEWN(r->arena, const Expr *, b->rank)};
    tok_expect(r, "[");
    for (int d = 0; d < b->rank; d++) {
        if (d)
            tok_expect(r, ",");
        g.at[d] = read_expr(r);
        tok_expect(r, ":+");
        g.extent[d] = read_expr(r);
        if (!dtype_is_int(g.at[d]->type) || !dtype_is_int(g.extent[d]->type) ||
            g.at[d]->lanes != 1 || g.extent[d]->lanes != 1)
            read_fail(r, at, "a region's bounds are integers [ir-type]");
    }
    tok_expect(r, "]");
    return g;
}

typedef VEC(Region) RegionVec;

/* "(A[…], B[…])" */
static RegionVec read_regions(Reader *r)
{
    RegionVec list = {0};
    tok_expect(r, "(");
    if (tok_take(r, ")"))
        return list;
    do {
        Region g = read_region(r);
        vec_push(r->arena, &list, g);
    } while (tok_take(r, ","));
    tok_expect(r, ")");
    return list;
}

static int read_id(Reader *r)
{
    tok_expect(r, "#");
    int id = (int)tok_int(r, -1, TILES_MOST);
    r->ir->ntile = MAX(r->ir->ntile, id + 1);
    return id;
}

static const Stmt *read_tile(Reader *r, const char *name, Span at)
{
    const TileOp *op = r->ir->words->op_find(name);
    ExprVec arg = {0};
    Hints h = {0};
    if (!op)
        read_fail(r, at, "unknown tile operator '%s' [ir-name]", name);
    int id = read_id(r), ntile = r->ir->ntile;
    if (id < 0)
        read_fail(r, at, "a tile operator without a number [ir-syntax]");
    RegionVec regions = read_regions(r);
    if (tok_take(r, "args")) {
        tok_expect(r, "(");
        read_list(r, ")", true, &arg);
    }
    const char *text = tok_take(r, "text") ? tok_string(r) : NULL;
    if (tok_take(r, "hints"))
        h = read_hints(r);
    Span span = read_line_end(r);
    Stmt *s = NEW(r->arena, Stmt);
    *s = *stmt_tile(r->ir, span, op, regions.n, regions.at, arg.n, arg.at, text, h);
    s->u.tile.id = id;
    r->ir->ntile = ntile;
    return s;
}

static const Stmt *read_instr(Reader *r)
{
    Span at = r->tok.span;
    ExprVec arg = {0};
    const char *name = tok_string(r);
    const Isa *isa = r->ir->words->isa_find(name);
    if (!isa)
        read_fail(r, at, "unknown instruction '%s' [ir-name]", name);
    int tile = read_id(r);
    RegionVec regions = read_regions(r);
    if (tok_take(r, "args")) {
        tok_expect(r, "(");
        read_list(r, ")", true, &arg);
    }
    Span span = read_line_end(r);
    return stmt_instr(r->ir, span, isa, regions.n, regions.at, arg.n, arg.at, tile);
}

static const Stmt *read_atomic(Reader *r, const char *name, Var *bind, Span at)
{
    ExprVec idx;
    const Expr *value = NULL;
    int op = 0;
    while (op < ATOMIC_COUNT && strcmp(name + strlen("atomic_"), atomic_name((AtomicOp)op)) != 0)
        op++;
    if (op == ATOMIC_COUNT)
        read_fail(r, at, "unknown operation '%s' [ir-name]", name);
    tok_expect(r, "(");
    Buffer *b = read_buffer_name(r);
    read_indices(r, b, at, &idx);
    if (tok_take(r, ","))
        value = as_type(r, read_expr(r), b->type, at);
    tok_expect(r, ")");
    const char *order = tok_take(r, "order") ? tok_string(r) : NULL;
    return stmt_atomic(r->ir, read_line_end(r), (AtomicOp)op, b, idx.at, idx.n, value, order, bind);
}

static CallMark read_mark(Reader *r)
{
    Span at = r->tok.span;
    const char *name = tok_string(r);

    for (int i = MARK_NONE + 1; i < MARK_COUNT; i++)
        if (strcmp(name, mark_name((CallMark)i)) == 0)
            return (CallMark)i;
    read_fail(r, at, "unknown mark '%s' [ir-name]", name);
}

static const Stmt *read_call(Reader *r, Var *bind)
{
    Span at = r->tok.span;
    const char *name = tok_name(r, "an intrinsic");
    ExprVec arg;
    RegionVec regions = {0};
    int which = 0;
    while (which < INTRIN_COUNT && strcmp(name, intrin_table[which].name) != 0)
        which++;
    if (which == INTRIN_COUNT)
        read_fail(r, at, "unknown intrinsic '%s' [ir-name]", name);
    tok_expect(r, "(");
    read_list(r, ")", true, &arg);
    if (tok_take(r, "regions"))
        regions = read_regions(r);
    const char *text = tok_take(r, "text") ? tok_string(r) : NULL;
    CallMark mark = tok_take(r, "mark") ? read_mark(r) : MARK_NONE;
    const Stmt *s = stmt_call(r->ir, read_line_end(r), (Intrin)which, arg.n, arg.at, regions.n,
                              regions.at, text, bind);
    return mark ? stmt_call_mark(r->ir, s, mark) : s;
}

static bool is_atomic(const Reader *r)
{
    return r->tok.kind == TOKEN_NAME && strncmp(r->tok.text, "atomic_", strlen("atomic_")) == 0;
}

/* "name: type = …": a let, or what an atomic or a call gives. */
static const Stmt *read_let(Reader *r, const char *name, Span at)
{
    DType t = read_type(r, NULL);
    tok_expect(r, "=");
    Span value_at = r->tok.span;
    if (is_atomic(r)) {
        const char *op = tok_name(r, "an operation");
        return read_atomic(r, op, define_var(r, name, t, at), value_at);
    }
    if (tok_take(r, "call"))
        return read_call(r, define_var(r, name, t, at));
    const Expr *value = as_type(r, read_expr(r), t, value_at);
    Span span = read_line_end(r);
    Var *v = define_var(r, name, t, at);
    if (!v->span.src)
        v->span = span;
    return stmt_let(r->ir, span, v, value);
}

static const Stmt *read_store(Reader *r, const char *name, Span at)
{
    Named *n = map_get(&r->names, name);
    ExprVec idx;
    const Expr *guard = NULL;
    int lanes = 1;
    if (!n || !n->buf)
        read_fail(r, at, "unknown buffer '%s' [ir-name]", name);
    read_indices(r, n->buf, at, &idx);
    for (int i = 0; i < idx.n; i++)
        lanes = MAX(lanes, idx.at[i]->lanes);
    tok_expect(r, "=");
    Async async = ASYNC_NO;
    if (tok_take(r, "async"))
        async = tok_take(r, "next") ? ASYNC_NEXT : ASYNC_COPY;
    Span value_at = r->tok.span;
    const Expr *value = as_type(r, read_expr(r), n->buf->type, value_at);
    if (value->lanes != 1 && value->lanes != lanes)
        read_fail(r, value_at, "a value of %d lanes for %d [ir-type]", value->lanes, lanes);
    if (tok_take(r, "where")) {
        guard = read_expr(r);
        if (guard->type != DT_BOOL || (guard->lanes != 1 && guard->lanes != lanes))
            read_fail(r, value_at, "a guard is a bool [ir-type]");
    }
    const Stmt *s =
        stmt_store_guarded(r->ir, read_line_end(r), n->buf, idx.at, idx.n, value, guard);
    return async ? stmt_store_async(r->ir, s, async) : s;
}

static const Stmt *read_assert(Reader *r)
{
    const Expr *cond = read_condition(r);
    const char *text = tok_take(r, "text") ? tok_string(r) : NULL;
    return stmt_assert(r->ir, read_line_end(r), cond, text);
}

static const Stmt *read_simple(Reader *r)
{
    Span at = r->tok.span;
    if (is_atomic(r)) {
        const char *op = tok_name(r, "an operation");
        return read_atomic(r, op, NULL, at);
    }
    const char *name = tok_name(r, "a statement");
    if (tok_is(r, "#"))
        return read_tile(r, name, at);
    if (tok_take(r, ":"))
        return read_let(r, name, at);
    if (tok_is(r, "["))
        return read_store(r, name, at);
    read_fail(r, at, "unknown statement '%s' [ir-syntax]", name);
}

static const Stmt *read_pass(Reader *r)
{
    read_line_end(r);
    return NULL;
}

const Stmt *read_stmt(Reader *r)
{
    const Expr *e;
    if (tok_take(r, "for"))
        return read_for(r);
    if (tok_take(r, "if"))
        return read_if(r);
    if (tok_take(r, "while"))
        return read_while(r);
    if (tok_take(r, "role"))
        return read_role(r);
    if (tok_take(r, "launch"))
        return read_launch(r);
    if (tok_take(r, "instr"))
        return read_instr(r);
    if (tok_take(r, "call"))
        return read_call(r, NULL);
    if (tok_take(r, "assert"))
        return read_assert(r);
    if (tok_take(r, "pass"))
        return read_pass(r);
    if (tok_take(r, "break"))
        return stmt_simple(r->ir, read_line_end(r), ST_BREAK);
    if (tok_take(r, "continue"))
        return stmt_simple(r->ir, read_line_end(r), ST_CONTINUE);
    if (tok_take(r, "eval")) {
        e = read_expr(r);
        return stmt_eval(r->ir, read_line_end(r), e);
    }
    return read_simple(r);
}
