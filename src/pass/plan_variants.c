/* plan_variants.c -- a second kernel for arguments that do not meet a condition.
 *
 * needs   FORM_NORMAL, FORM_SIMPLE
 *
 * What decides a mechanism may be known only when the kernel is called: whether the rows of a
 * tensor of run-time shape start at multiples of 16 bytes.  The target says which condition would
 * help (Target.variant).  The kernel is then lowered twice: once knowing that the condition holds
 * (Kernel.assume), and as NAME_any knowing nothing.  The host looks at the arguments:
 *
 *     if K % 8 == 0 and N % 8 == 0: launch NAME, else: launch NAME_any                          */
#include "pass/pass.h"
#include "ir/config.h"

typedef struct {
    Kernel *k, *any;
} Split;

static const Stmt *choose(Ir *ir, const Stmt *s, void *arg)
{
    const Split *x = arg;

    if (s->kind != ST_LAUNCH || s->u.launch.kernel != x->k)
        return s;
    return stmt_if(ir, s->span, x->k->assume, stmt_launch(ir, s->span, x->k),
                   stmt_launch(ir, s->span, x->any));
}

static const Stmt *launches(Func *f)
{
    Builder b;

    build_open(&b, f->ir, NULL);
    for (int i = 0; i < f->kernels.n; i++)
        build_add(&b, stmt_launch(f->ir, f->span, f->kernels.at[i]));
    return build_close(&b, f->span);
}

static bool is_row(const Func *f, const Var *v)
{
    for (int i = 0; i < f->params.n; i++) {
        const Buffer *b = f->params.at[i].buf;
        if (b && b->rank && b->shape[b->rank - 1]->op == EX_VAR &&
            b->shape[b->rank - 1]->u.var == v)
            return true;
    }
    return false;
}

/* The kernel is for aligned rows alone: whoever asks for that has calls with others refused. */
static void only_aligned(Kernel *k)
{
    Func *f = k->func;
    Ir *ir = k->ir;
    int64_t n = config_int(f, CONFIG_dynamic_alignment);
    const Expr *all = NULL;

    for (int i = 0; i < f->dims.n; i++) {
        if (!is_row(f, f->dims.at[i]))
            continue;
        const Expr *size = expr_var(ir, f->dims.at[i]);
        const Expr *is = expr_binary(ir, EX_EQ,
                                     expr_binary(ir, EX_FLOORMOD, size,
                                                 expr_const(ir, f->dims.at[i]->type, n)),
                                     expr_const(ir, f->dims.at[i]->type, 0));
        all = all ? expr_and(ir, all, is) : is;
    }
    if (!all)
        return;
    k->assume = all;
    f->body = stmt_seq(ir, stmt_assert(ir, f->span, all, arena_printf(
                               k->arena, "rows are no multiples of %lld (tl.dynamic_alignment)",
                               (long long)n)), f->body ? f->body : launches(f));
}

void pass_plan_variants(Kernel *k)
{
    Func *f = k->func;
    Split x = {.k = k};

    if (f && !k->assume && config_on(f, CONFIG_disable_dynamic_tail_split))
        only_aligned(k);
    if (!f || !k->target->variant || k->assume)
        return;
    const Expr *cond = k->target->variant(k);
    if (!cond)
        return;
    if (!f->body)
        f->body = launches(f);
    x.any = kernel_copy(f, k);
    x.any->name = ir_name(k->ir, arena_printf(k->arena, "%s_any", k->name));
    x.any->prelude = NULL; /* it stands before the other one */
    x.any->assume = expr_bool(k->ir, true);
    k->assume = cond;
    f->body = stmt_map(k->ir, f->body, choose, &x);
    vec_push(f->ir->arena, &f->kernels, x.any);
}
