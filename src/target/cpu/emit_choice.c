/* emit_choice.c -- loops with a condition that is the same for all of their elements: two loops.
 *
 *     for k: y[k] = inside ? x[k] : 0        if (inside) for k: y[k] = x[k]
 *                                            else        for k: y[k] = 0
 *
 * Borders, rows behind the end.  GCC does that too, but then takes what is left of the choices for
 * branches and makes no vectors of the loop (it is told not to, in rt/host.c). */
#include "target/cpu/emit.h"

enum {
    CHOICES_MOST = 2, /* loops inside of each other's branches */
    SHORT = 16,       /* GCC writes these out: emit.c has what it then takes for their conditions */
};

typedef struct {
    const Stmt *loop;
    const Expr *cond;
} FindChoice;

static bool is_lasting(const Expr *x, void *arg)
{
    const FindChoice *f = arg;
    switch (x->op) {
    case EX_INT: case EX_ADD: case EX_SUB: case EX_MUL: case EX_EQ: case EX_NE: case EX_LT:
    case EX_LE: case EX_GT: case EX_GE: case EX_AND: case EX_OR: case EX_NOT: case EX_CAST:
        return false;
    case EX_VAR: return x->u.var == f->loop->u.loop.var;
    default: return true;
    }
}

/* Made of whole numbers that are there before the loop. */
static bool is_settled(FindChoice *f, const Expr *cond)
{
    bool ok = !expr_any(cond, is_lasting, f);
    const Stmt *body = f->loop->u.loop.body;
    for (int i = 0; ok && body->kind == ST_BLOCK && i < body->u.block.n; i++) {
        const Stmt *s = body->u.block.list[i];
        ok = s->kind != ST_LET || !expr_uses_var(cond, s->u.let.var);
    }
    return ok;
}

static bool find_choice(const Expr *x, void *arg)
{
    FindChoice *f = arg;
    const Expr *cond = x->op == EX_IF || x->op == EX_SELECT ? x->kid[0]
                       : x->op == EX_LOAD && x->guarded     ? x->kid[expr_nindex(x)]
                                                            : NULL;
    if (!f->cond && cond && cond->op != EX_INT && is_settled(f, cond))
        f->cond = cond;
    return !f->cond;
}

typedef struct {
    const Expr *cond;
    bool holds;
} Choice;

static const Expr *take_choice(Ir *ir, const Expr *x, void *arg)
{
    const Choice *c = arg;
    if ((x->op == EX_IF || x->op == EX_SELECT) && x->kid[0] == c->cond)
        return x->kid[c->holds ? 1 : 2];
    if (x->op != EX_LOAD || !x->guarded || x->kid[expr_nindex(x)] != c->cond)
        return x;
    const int n = expr_nindex(x);
    return c->holds ? expr_load(ir, x->u.buf, x->kid, n) : x->kid[n + 1];
}

static const Expr *take_choices(Ir *ir, const Expr *x, void *arg)
{
    return expr_map(ir, x, take_choice, arg);
}

static void emit_branch(Emit *e, const Stmt *loop, Choice c)
{
    const Stmt *body = stmt_map_expr(e->ir, loop->u.loop.body, take_choices, &c);
    e->indent++;
    cpu_emit_for(e, stmt_for_as(e->ir, loop, loop->u.loop.how, body));
    e->indent--;
}

static bool is_plain(const Stmt *s)
{
    return s->kind == ST_LET || (s->kind == ST_STORE && !s->u.store.guard);
}

bool emit_choice_loop(Emit *e, const Stmt *loop)
{
    const Stmt *body = loop->u.loop.body;
    FindChoice f = {.loop = loop};
    bool plain = body->kind == ST_BLOCK || is_plain(body);
    int64_t extent;

    for (int i = 0; plain && body->kind == ST_BLOCK && i < body->u.block.n; i++)
        plain = is_plain(body->u.block.list[i]);
    if (!plain || !emits_vectors(e) || cpu_of(e)->choices == CHOICES_MOST ||
        (expr_is_int(loop->u.loop.extent, &extent) && extent <= SHORT))
        return false;
    for (int i = 0; i < (body->kind == ST_BLOCK ? body->u.block.n : 1); i++)
        stmt_visit_expr(body->kind == ST_BLOCK ? body->u.block.list[i] : body, find_choice, &f);
    if (!f.cond)
        return false;
    cpu_of(e)->choices++;
    emit_indent(e);
    str_puts(e->out, "if (__builtin_expect("); /* else GCC may take its loop for one never run */
    emit_expr(e, f.cond);
    str_puts(e->out, ", 1)) {\n");
    emit_branch(e, loop, (Choice){f.cond, true});
    emit_line(e, "} else {");
    emit_branch(e, loop, (Choice){f.cond, false});
    emit_line(e, "}");
    cpu_of(e)->choices--;
    return true;
}
