/* launch_facts.c -- T.assume about the arguments alone is looked at before the launch.
 *
 *     launch K: assume N % 4 == 0; …   ->   assert N % 4 == 0, "Assume: N % 4 == 0"; launch K: … */
#include "front/front.h"

typedef struct {
    const Func *f;
    bool known;
} OfHost;

static bool is_argument(const Func *f, const Var *v)
{
    for (int i = 0; i < f->dims.n; i++)
        if (f->dims.at[i] == v)
            return true;
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].var == v)
            return dtype_is_int(v->type);
    return false;
}

static bool see_of_host(const Expr *e, void *arg)
{
    OfHost *h = arg;
    bool part = e->op != EX_LOAD && e->op != EX_EXTERN && e->op != EX_ADDR && e->op != EX_MATH;

    h->known &= part && e->lanes == 1 && !dtype_is_float(e->type) &&
                (e->op != EX_VAR || is_argument(h->f, e->u.var));
    return h->known;
}

static bool see_return(const Stmt *s, void *arg)
{
    bool *found = arg;
    *found |= s->kind == ST_CALL && s->u.call.which == INTRIN_RETURN;
    return !*found;
}

/* What every thread comes by; false: some may have left by then. */
static bool gather(const Func *f, const Stmt *s, Builder *out)
{
    bool leaves = false;
    OfHost h = {f, true};
    Str text;

    if (s->kind == ST_BLOCK) {
        for (int i = 0; i < s->u.block.n; i++)
            if (!gather(f, s->u.block.list[i], out))
                return false;
        return true;
    }
    stmt_visit(s, see_return, &leaves);
    if (!stmt_is_fact(s))
        return !leaves;
    expr_visit(s->u.check.cond, see_of_host, &h);
    if (!h.known)
        return true;
    str_init(&text, f->ir->arena);
    str_puts(&text, "Assume: ");
    print_expr(&text, s->u.check.cond);
    build_add(out, stmt_assert(f->ir, s->span, s->u.check.cond, ir_name(f->ir, text.s)));
    return true;
}

static const Stmt *before_launch(Ir *ir, const Stmt *s, void *arg)
{
    Builder b;

    if (s->kind != ST_LAUNCH || !s->u.launch.kernel->body)
        return s;
    build_open(&b, ir, NULL);
    gather(arg, s->u.launch.kernel->body, &b);
    if (b.list.n == 0)
        return s;
    build_add(&b, s);
    return build_close(&b, s->span);
}

void trace_launch_facts(Func *f)
{
    if (f->body)
        f->body = stmt_map(f->ir, f->body, before_launch, f);
}
