/* verify.c -- the specification of the IR: what may appear in which form.
 *
 * Always
 *   a variable is used after its definition, inside the block that defines it; function dimensions,
 *   scalar parameters, host variables, block and thread indices are known everywhere
 *   a buffer is one of the kernel's, a tensor, a workspace, or a view or pointer to memory
 *   operands have one type and one number of lanes; conditions are one bool; indices are integers
 *   what is stored has the buffer's type; accesses and regions have the buffer's rank
 *   break and continue are inside a loop; a kernel launches nothing
 * and what the forms it claims say (verify_forms.c).
 *
 * A violation is a bug of the pass before it, so it is reported as one, with the statement. */
#include "pass/verify.h"

NORETURN void offence(Verify *v, const char *fmt, ...)
{
    Str where;
    va_list ap;
    va_start(ap, fmt);
    const char *what = arena_vprintf(v->arena, fmt, ap);
    va_end(ap);
    str_init(&where, v->arena);
    if (v->at)
        print_stmt(&where, v->k->ir, v->at, 0);
    int n = (int)strcspn(where.s, "\n");
    bug_at("verify", v->at && v->at->span.src ? v->at->span.line : 0, "after %s of %s: %s: %.*s",
           v->after, v->k->name, what, MIN(n, 240), where.s);
}

/* ---- variables -------------------------------------------------------------------------- */

static void define(Verify *v, const Var *var)
{
    if (!var)
        return;
    map_set(&v->scope, var, (void *)((uintptr_t)map_get(&v->scope, var) + 1));
    vec_push(v->arena, &v->open, var);
}

static void leave(Verify *v, int mark)
{
    while (v->open.n > mark) {
        const Var *var = v->open.at[--v->open.n];
        map_set(&v->scope, var, (void *)((uintptr_t)map_get(&v->scope, var) - 1));
    }
}

/* ---- expressions ------------------------------------------------------------------------ */

static void check_buffer(Verify *v, const Buffer *b)
{
    if (!map_has(&v->buffers, buffer_root(b)) && !buffer_root(b)->pointer)
        offence(v, "buffer '%s' belongs to nobody", b->name);
}

static void check_access(Verify *v, const Buffer *b, int n, const Expr *const *at)
{
    bool flat = (v->k->form & FORM_FLAT) != 0;
    check_buffer(v, b);
    if (flat ? n != 1 && !(b->rank == 0 && n == 0) : n != b->rank)
        offence(v, "%d indices for '%s' of rank %d%s", n, b->name, b->rank, flat ? " (flat)" : "");
    for (int i = 0; i < n; i++) {
        if (!dtype_is_int(at[i]->type))
            offence(v, "an index of type %s", dtype_name(at[i]->type));
    }
}

static bool logical(ExprOp op)
{
    return op == EX_AND || op == EX_OR || op == EX_NOT;
}

static void check_operands(Verify *v, const Expr *e)
{
    bool compares = e->op >= EX_EQ && e->op <= EX_GE;
    for (int i = 0; i < e->nkid; i++) {
        if (e->kid[i]->type != e->kid[0]->type || e->kid[i]->lanes != e->lanes)
            offence(v, "'%s' on %s x%d and %s x%d", expr_table[e->op].text,
                    dtype_name(e->kid[0]->type), e->kid[0]->lanes, dtype_name(e->kid[i]->type),
                    e->kid[i]->lanes);
    }
    if (e->type != (compares ? DT_BOOL : (DType)e->kid[0]->type))
        offence(v, "'%s' gives %s", expr_table[e->op].text, dtype_name(e->type));
    if (logical(e->op) && e->type != DT_BOOL)
        offence(v, "'%s' on %s", expr_table[e->op].text, dtype_name(e->type));
    if (e->op == EX_DIV && !dtype_is_float(e->type))
        offence(v, "'/' on %s", dtype_name(e->type));
}

static void check_choice(Verify *v, const Expr *e)
{
    const Expr *c = e->kid[0], *a = e->kid[1], *b = e->kid[2];
    if (c->type != DT_BOOL || (c->lanes != 1 && c->lanes != e->lanes))
        offence(v, "a choice by %s", dtype_name(c->type));
    if (a->type != e->type || b->type != e->type || a->lanes != e->lanes || b->lanes != e->lanes)
        offence(v, "a choice between %s and %s", dtype_name(a->type), dtype_name(b->type));
}

static void check_load(Verify *v, const Expr *e)
{
    int n = expr_nindex(e);
    check_access(v, e->u.buf, n, e->kid);
    if (e->op == EX_LOAD && e->type != e->u.buf->type)
        offence(v, "a load of %s from '%s'", dtype_name(e->type), e->u.buf->name);
    if (e->guarded && (e->kid[n]->type != DT_BOOL || e->kid[n + 1]->type != e->type))
        offence(v, "a guard of %s, a fill of %s", dtype_name(e->kid[n]->type),
                dtype_name(e->kid[n + 1]->type));
}

static bool names_it(const Stmt *s, void *var)
{
    return (s->kind == ST_LET || s->kind == ST_FOR) && stmt_binds(s) == var;
}

/* Few are: the host's statements, which may be many launches, are gone through only for them. */
static bool host_defines(Verify *v, const Var *var)
{
    bool found = stmt_any(v->k->func->body, names_it, var);
    if (found)
        map_set(&v->scope, var, (void *)(uintptr_t)1);
    return found;
}

static bool check_node(const Expr *e, void *arg)
{
    Verify *v = arg;
    switch (e->op) {
    case EX_VAR:
        if (!map_get(&v->scope, e->u.var) && !host_defines(v, e->u.var))
            offence(v, "'%s' is used where it is not defined", e->u.var->name);
        break;
    case EX_LOAD: case EX_ADDR:
        check_load(v, e);
        break;
    case EX_SELECT: case EX_IF:
        check_choice(v, e);
        break;
    case EX_BITCAST:
        if (dtype_bits(e->type) * e->lanes != dtype_bits(e->kid[0]->type) * e->kid[0]->lanes)
            offence(v, "a bitcast between sizes");
        break;
    default:
        if (e->op >= EX_ADD && e->op <= EX_SHR)
            check_operands(v, e);
        break;
    }
    for (int i = 0; i < v->nform_expr; i++)
        v->form_expr[i](v, e);
    return true;
}

static void check_bool(Verify *v, const Expr *e, const char *what)
{
    if (e->type != DT_BOOL || e->lanes != 1)
        offence(v, "%s of type %s x%d", what, dtype_name(e->type), e->lanes);
}

/* ---- statements ------------------------------------------------------------------------- */

static void check_regions(Verify *v, int n, const Region *r)
{
    for (int i = 0; i < n; i++) {
        check_buffer(v, r[i].buf);
        for (int d = 0; d < r[i].buf->rank; d++) {
            if (!r[i].at[d] || !r[i].extent[d])
                offence(v, "a region of '%s' without bounds", r[i].buf->name);
            if (!dtype_is_int(r[i].at[d]->type) || !dtype_is_int(r[i].extent[d]->type))
                offence(v, "a region of '%s' with bounds that are no integers", r[i].buf->name);
        }
    }
}

static void check_store(Verify *v, const Stmt *s)
{
    const Buffer *b = s->u.store.buf;
    int lanes = 1;
    check_access(v, b, s->u.store.n, s->u.store.at);
    for (int i = 0; i < s->u.store.n; i++)
        lanes = MAX(lanes, s->u.store.at[i]->lanes);
    if (s->u.store.value->type != b->type)
        offence(v, "a store of %s into '%s' of %s", dtype_name(s->u.store.value->type), b->name,
                dtype_name(b->type));
    if (s->u.store.value->lanes != lanes)
        offence(v, "a store of %d lanes into %d", s->u.store.value->lanes, lanes);
    const Expr *g = s->u.store.guard;
    if (g && (g->type != DT_BOOL || (g->lanes != 1 && g->lanes != lanes)))
        offence(v, "a guard of type %s x%d", dtype_name(g->type), g->lanes);
    if (s->u.store.async && buffer_root(b)->scope != MEM_SHARED)
        offence(v, "an asynchronous store into '%s', which is not shared", b->name);
}

static void check_loop(Verify *v, const Stmt *s)
{
    DType t = s->u.loop.var->type;
    if (s->u.loop.min->type != t || s->u.loop.extent->type != t || !dtype_is_int(t))
        offence(v, "a loop over %s with bounds of %s and %s", dtype_name(t),
                dtype_name(s->u.loop.min->type), dtype_name(s->u.loop.extent->type));
    const Stmt *other = map_get(&v->ranges, s->u.loop.var);
    if (!other)
        map_set(&v->ranges, s->u.loop.var, (void *)s);
    else if (other->u.loop.min != s->u.loop.min || other->u.loop.extent != s->u.loop.extent)
        offence(v, "'%s' is the variable of loops of different ranges", s->u.loop.var->name);
}

static void check_let(Verify *v, const Stmt *s)
{
    if (s->u.let.value->type != s->u.let.var->type || s->u.let.value->lanes != 1)
        offence(v, "'%s' of %s gets %s x%d", s->u.let.var->name, dtype_name(s->u.let.var->type),
                dtype_name(s->u.let.value->type), s->u.let.value->lanes);
}

static void check_parts(Verify *v, const Stmt *s)
{
    switch (s->kind) {
    case ST_LET:
        check_let(v, s);
        break;
    case ST_STORE:
        check_store(v, s);
        break;
    case ST_FOR:
        check_loop(v, s);
        break;
    case ST_IF: case ST_WHILE:
        check_bool(v, s->u.branch.cond, "a condition");
        break;
    case ST_ASSERT:
        check_bool(v, s->u.check.cond, "an assertion");
        break;
    case ST_TILE:
        check_regions(v, s->u.tile.nregion, s->u.tile.region);
        break;
    case ST_ATOMIC:
        check_access(v, s->u.atomic.buf, s->u.atomic.n, s->u.atomic.at);
        if (s->u.atomic.value && s->u.atomic.value->type != s->u.atomic.buf->type)
            offence(v, "an atomic with %s", dtype_name(s->u.atomic.value->type));
        break;
    case ST_CALL:
        check_regions(v, s->u.call.nregion, s->u.call.region);
        break;
    case ST_INSTR:
        check_regions(v, s->u.instr.nregion, s->u.instr.region);
        break;
    case ST_BREAK: case ST_CONTINUE:
        if (v->loops == 0)
            offence(v, "outside of any loop");
        break;
    case ST_LAUNCH:
        offence(v, "a launch inside a kernel");
    default:
        break;
    }
}

static void check_stmt(Verify *v, const Stmt *s);

/* A body: what it defines ends with it. */
static void check_body(Verify *v, const Stmt *s, const Var *var, bool loop)
{
    int mark = v->open.n;
    if (!s)
        return;
    define(v, var);
    v->loops += loop;
    check_stmt(v, s);
    v->loops -= loop;
    leave(v, mark);
}

static void check_children(Verify *v, const Stmt *s)
{
    const Stmt *around = v->role;
    const Var *var = stmt_binds(s);

    if (s->kind == ST_BLOCK && s->u.block.n == 1)
        offence(v, "a block of one statement");
    if (s->kind == ST_ROLE)
        v->role = s;
    for (int i = 0; i < stmt_nkid(s); i++)
        if (s->kind == ST_BLOCK)
            check_stmt(v, stmt_kid(s, i));
        else
            check_body(v, stmt_kid(s, i), var, s->kind == ST_FOR || s->kind == ST_WHILE);
    v->role = around;
    if (s->kind != ST_FOR)
        define(v, var);
}

static void check_stmt(Verify *v, const Stmt *s)
{
    v->at = s->kind == ST_BLOCK ? v->at : s;
    check_parts(v, s);
    for (int i = 0; i < v->nform_stmt; i++)
        v->form_stmt[i](v, s);
    stmt_visit_expr(s, check_node, v);
    check_children(v, s);
}

/* ---- kernels ---------------------------------------------------------------------------- */

static void define_function(Verify *v, const Func *f)
{
    for (int i = 0; i < f->dims.n; i++)
        define(v, f->dims.at[i]);
    for (int i = 0; i < f->params.n; i++) {
        define(v, f->params.at[i].var);
        if (f->params.at[i].buf)
            map_set(&v->buffers, f->params.at[i].buf, f);
    }
    for (int i = 0; i < f->workspaces.n; i++)
        map_set(&v->buffers, f->workspaces.at[i], f);
}

/* What it makes lies in the scratch memory.  Expressions do not: the table of those there are would
 * go on naming them. */
void verify_kernel(Kernel *k, const char *after)
{
    ArenaMark mark = arena_mark(k->scratch);
    Verify v = {.k = k, .after = after, .arena = k->scratch};
    map_init(&v.scope, v.arena);
    map_init(&v.buffers, v.arena);
    map_init(&v.ranges, v.arena);
    define_function(&v, k->func);
    for (int i = 0; i < k->buffers.n; i++)
        map_set(&v.buffers, buffer_root(k->buffers.at[i]), k);
    for (int i = 0; i < k->ngrid; i++)
        expr_visit(k->grid[i], check_node, &v);
    for (int i = 0; i < 3; i++) {
        define(&v, k->block[i]);
        define(&v, k->thread[i]);
    }
    verify_forms_kernel(&v);
    if (k->body)
        check_stmt(&v, k->body);
    if (k->scratch != k->arena)
        arena_reset(k->scratch, mark);
}
