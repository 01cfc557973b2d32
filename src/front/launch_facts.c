/* launch_facts.c -- T.assume about the arguments alone is looked at before the launch.
 *
 *     launch K: assume N % 4 == 0; …   ->   assert N % 4 == 0, "Assume: N % 4 == 0"; launch K: … */
#include "front/front.h"

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

static bool is_of_kernel(const Expr *e, void *func)
{
    return e->op == EX_LOAD || e->op == EX_EXTERN || e->op == EX_ADDR || e->op == EX_MATH ||
           e->lanes != 1 || dtype_is_float(e->type) ||
           (e->op == EX_VAR && !is_argument(func, e->u.var));
}

static bool is_return(const Stmt *s, void *arg)
{
    (void)arg;
    return stmt_calls(s, INTRIN_RETURN);
}

/* What every thread comes by; false: some may have left by then. */
static bool gather(const Func *f, const Stmt *s, Builder *out)
{
    Str text;

    if (s->kind == ST_BLOCK) {
        for (int i = 0; i < s->u.block.n; i++)
            if (!gather(f, s->u.block.list[i], out))
                return false;
        return true;
    }
    if (!stmt_is_fact(s))
        return !stmt_any(s, is_return, NULL);
    if (expr_any(s->u.check.cond, is_of_kernel, f))
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
